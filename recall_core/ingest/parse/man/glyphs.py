"""Named glyphs of roff: \\(bu, \\[u2019], \\[char163], \\N'163'."""

from __future__ import annotations

import re
import unicodedata

_NAMED = r"""
!= ≠ %0 ‰ 'A Á 'C Ć 'E É 'I Í 'O Ó 'U Ú 'Y Ý 'a á 'c ć 'e é 'i í 'o ó 'u ú 'y ý ** ∗ *A Α *B Β *C Ξ *D Δ *E Ε *F
Φ *G Γ *H Θ *I Ι *K Κ *L Λ *M Μ *N Ν *O Ο *P Π *Q Ψ *R Ρ *S Σ *T Τ *U Υ *W Ω *X Χ *Y Η *Z Ζ *a α *b β *c ξ *d δ
*e ε *f ϕ *g γ *h θ *i ι *k κ *l λ *m μ *n ν *o ο *p π *q ψ *r ρ *s σ *t τ *u υ *w ω *x χ *y η *z ζ +- ± +e ϵ +f
φ +h ϑ +p ϖ ,C Ç ,c ç - - -+ ∓ -> → -D Ð -h ℏ .i ı .j ȷ /L Ł /O Ø /_ ∠ /l ł /o ø 12 ½ 14 ¼ 18 ⅛ 34 ¾ 38 ⅜ 3d ∴
58 ⅝ 78 ⅞ :A Ä :E Ë :I Ï :O Ö :U Ü :Y Ÿ :a ä :e ë :i ï :o ö :u ü :y ÿ <- ← << ≪ <= ≤ <> ↔ == ≡ =~ ≅ >= ≥ >> ≫ AE
Æ AN ∧ Ah ℵ Bq „ CL ♣ CR ↵ Cs ¤ DI ♦ Do $ Eu € Fc » Fi ffi Fl ffl Fn ƒ Fo « HE ♥ IJ Ĳ Im ℑ OE Œ OK ✓ OR ∨ Of ª Om º
Po £ Re ℜ S1 ¹ S2 ² S3 ³ SP ♠ Sd ð TP Þ Tp þ Ye ¥ ^A Â ^E Ê ^I Î ^O Ô ^U Û ^a â ^e ê ^i î ^o ô ^u û `A À `E È `I
Ì `O Ò `U Ù `a à `e è `i ì `o ò `u ù a- ¯ a. ˙ a^ ^ aa ´ ab ˘ ac ¸ ad ¨ ae æ ah ˇ an ⎯ ao ˚ ap ∼ aq ' at @ a~ ~
ba | bb ¦ bq ‚ br │ braceex ⎪ braceleftbt ⎩ braceleftex ⎪ braceleftmid ⎨ bracelefttp ⎧ bracerightbt ⎭
bracerightex ⎪ bracerightmid ⎬ bracerighttp ⎫ bracketleftbt ⎣ bracketleftex ⎢ bracketlefttp ⎡ bracketrightbt ⎦
bracketrightex ⎥ bracketrighttp ⎤ bs ☎ bu • bv ⎪ c* ⊗ c+ ⊕ ca ∩ ci ○ co © coproduct ∐ cq ’ ct ¢ cu ∪ dA ⇓ da ↓
dd ‡ de ° dg † di ÷ dq " em — en – eq = es ∅ eu € f/ ⁄ fa ∀ fc › ff ff fi fi fl fl fm ′ fo ‹ ga ` gr ∇ hA ⇔ ha ^
hbar ℏ ho ˛ hy - ib ⊆ if ∞ ij ĳ integral ∫ ip ⊇ is ∫ lA ⇐ lB [ lC { la ⟨ lb ⎩ lc ⌈ lf ⌊ lh ☜ lk ⎨ lq “ lt ⎧ lz ◊
mc µ md ⋅ mi − mo ∈ mu × nb ⊄ nc ⊅ ne ≢ nm ∉ no ¬ oA Å oa å oe œ oq ‘ or | overline ‾ parenleftbt ⎝ parenleftex
⎜ parenlefttp ⎛ parenrightbt ⎠ parenrightex ⎟ parenrighttp ⎞ pc · pd ∂ pl + pp ⊥ product ∏ ps ¶ pt ∝ r! ¡ r? ¿
rA ⇒ rB ] rC } ra ⟩ radicalex ‾ rb ⎭ rc ⌉ rf ⌋ rg ® rh ☞ rk ⎬ rn ‾ rq ” rs \ rt ⎫ ru _ sb ⊂ sc § sd ″ sh # sl /
sp ⊃ sq □ sqrt √ sqrtex ‾ sr √ ss ß st ∋ sum ∑ t+- ± tdi ÷ te ∃ tf ∴ ti ~ tm ™ tmu × tno ¬ ts ς uA ⇑ ua ↑ ul _
vA ⇕ vS Š vZ Ž va ↕ vs š vz ž wp ℘ |= ≃ ~= ≈ ~A Ã ~N Ñ ~O Õ ~a ã ~n ñ ~o õ ~~ ≈
"""
_PAIRS = _NAMED.split()
NAMED = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""Glyphs by the names that groff_char(7) lists."""

_UNICODE = re.compile(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6})*")
_ACCENTS = {
    'a"': "\u030b",
    "a-": "\u0304",
    "a.": "\u0307",
    "a^": "\u0302",
    "aa": "\u0301",
    "ga": "\u0300",
    "ab": "\u0306",
    "ac": "\u0327",
    "ad": "\u0308",
    "ah": "\u030c",
    "ao": "\u030a",
    "a~": "\u0303",
    "ho": "\u0328",
}


def glyph(name: str) -> str:
    """The characters of a glyph by its name; "" where nobody knows."""
    if name in NAMED:
        return NAMED[name]
    if len(name) == 1:
        return name
    if _UNICODE.fullmatch(name):
        return unicodedata.normalize("NFC", "".join(code_point(int(each, 16)) for each in name[1:].split("_")))
    if name.startswith("char") and name[4:].isdecimal() and len(name) < 9:
        return code_point(int(name[4:]))
    first, _, rest = name.partition(" ")
    return unicodedata.normalize("NFC", glyph(first) + _ACCENTS.get(rest, "")) if rest else ""


def code_point(number: int) -> str:
    """The character of that number; "" for controls, halves of surrogate pairs, and what is no number of one."""
    if number < 32 or 0x7F <= number < 0xA0 or 0xD800 <= number < 0xE000 or number > 0x10FFFF:
        return ""
    return chr(number)
