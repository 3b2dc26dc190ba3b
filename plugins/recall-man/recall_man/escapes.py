"""Escapes of roff: characters, named glyphs, and the arguments of a control line."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NAME = r"(?:\[[^\]]{0,200}\]?|\((?:..?)?|.|$)"
"""Name of a string, register, font or glyph after its letter: x, (xx or [name]."""

_QUOTED = r"(?:'(?:[^'\\]|\\.){0,400}+'|\"(?:[^\"\\]|\\.){0,400}+\"|\||.)?"
_ESCAPE = re.compile(
    r"\\(?:f" + NAME + r"|\(..?|\[[^\]]{0,200}\]|s(?:[-+]?(?:\[[^\]]{0,20}\]|\(..|'[^']{0,20}')|[-+]\d?|[1-3]\d|\d|)"
    r"|[CNhvlLDobxXZABHSRw]" + _QUOTED + r"|[mMFkgVYO]" + NAME + r"|z|[\s\S]|$)"
)
_TOKEN = re.compile(r"\\(?:\(..?|\[[^\]]{0,200}\]|[CN]'[^']{0,100}'|.)|.")

_PLAIN = {
    "\\-": "-", "\\ ": " ", "\\~": " ", "\\0": " ", "\\e": "\\", "\\\\": "\\", "\\.": ".", "\\'": "´", "\\`": "`",
    "\\_": "_", "\\t": "\t", '\\"': "", "\\E": "\\", "\\@": "@", "\\#": "", "\\=": "=", "\\+": "+", "\\;": ";",
    "\\<": "<", "\\>": ">", "\\*": "*", "\\/": "", "\\]": "]", "\\q": "q", "\\?": "?", "\\j": "j", "\\i": "i",
}  # fmt: skip
_FREQUENT = (("\\-", "-"), ("\\fB", ""), ("\\fR", ""), ("\\fI", ""), ("\\fP", ""), ("\\&", ""))
_MOVED = re.compile(r"\+?0*(\d*\.?\d*)")
_SILENT = "AHSRDLxvBXacdprufsmMFkgVYOz"
_WORD = re.compile(r' *(?:"((?:[^"]|"")*+)"?|((?:[^ \\]|\\[\s\S]?)++))')

_GLYPH_TABLE = r"""
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
_PAIRS = _GLYPH_TABLE.split()
_GLYPHS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""Glyphs by their names in groff_char(7)."""

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


def plain(text: str) -> str:
    """Return a line as displayed: without fonts, sizes and movements, and with glyphs as characters."""
    if "\\" not in text:
        return text
    if "\\\\" not in text:
        for escape, shown in _FREQUENT:
            text = text.replace(escape, shown)
        if "\\" not in text:
            return text
    return _ESCAPE.sub(_meaning_of, text)


def tokens(text: str) -> list[str]:
    """Return the characters and named glyphs of a line."""
    return _TOKEN.findall(text)


def words(text: str) -> list[str]:
    """Return the arguments of a macro, separated by spaces or in double quotes."""
    if '"' not in text and "\\ " not in text:
        return [word for word in text.split(" ") if word] if "\t" in text else text.split()
    return [
        bare or quoted.replace('""', '"')
        for quoted, bare in _WORD.findall(text.rstrip(" ") if text[-2:] != "\\ " else text)
    ]


def _meaning_of(found: re.Match[str]) -> str:
    return _meaning(found[0])


@lru_cache(maxsize=4096)
def _meaning(escape: str) -> str:
    if escape in _PLAIN:
        return _PLAIN[escape]
    kind, argument = escape[1:2], escape[3:-1]
    match kind:
        case "(" | "[":
            shown = _glyph(escape[2:].removesuffix("]"))
        case "C":
            shown = _glyph(argument)
        case "N":
            shown = _code_point(int(argument)) if argument.isdecimal() and len(argument) < 8 else ""
        case "h":
            shown = " " if _moves_right(escape[2:].strip("'\"")) else ""
        case "o" | "b" | "Z":
            shown = _simple(argument)
        case "l":
            shown = "_" if "'" in escape else ""
        case "w":
            shown = "24"
        case _:
            shown = kind if kind.isalnum() and kind not in _SILENT else ""
    return shown


def _simple(text: str) -> str:
    """Return an escape's argument, with simple escapes resolved and others dropped."""
    return "".join(_PLAIN.get(each, "") if each.startswith("\\") else each for each in tokens(text))


def _moves_right(distance: str) -> bool:
    if distance.startswith("|"):
        return True
    amount = _MOVED.match(distance)
    return bool(amount and amount[1].strip(".") and float(amount[1]) >= (10 if distance.endswith("u") else 0.5))


def _glyph(name: str) -> str:
    """Return the characters of a named glyph; "" if it is unknown."""
    if name in _GLYPHS:
        return _GLYPHS[name]
    if len(name) == 1:
        return name
    if _UNICODE.fullmatch(name):
        return unicodedata.normalize("NFC", "".join(_code_point(int(each, 16)) for each in name[1:].split("_")))
    if name.startswith("char") and name[4:].isdecimal() and len(name) < 9:
        return _code_point(int(name[4:]))
    first, _, rest = name.partition(" ")
    return unicodedata.normalize("NFC", _glyph(first) + _ACCENTS.get(rest, "")) if rest else ""


def _code_point(number: int) -> str:
    """Return the character with this number; "" for controls, surrogates and invalid numbers."""
    if number < 32 or 0x7F <= number < 0xA0 or 0xD800 <= number < 0xE000 or number > 0x10FFFF:
        return ""
    return chr(number)
