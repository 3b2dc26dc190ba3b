"""Features of the `hash` embedder in plain Python: pinned letter tables, words, features and their sums."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from operator import add

from recall_core.deadline import check
from recall_core.text import STOP_WORDS

# Each plain letter, then the letters that fold to it. The interpreter's tables change with its Unicode version.
_LETTERS = """
    0０ 1１ 2２ 3３ 4４ 5５ 6６ 7７ 8８ 9９
    aAÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặＡａ bBḂḃḄḅḆḇＢｂ cCÇçĆćĈĉĊċČčḈḉＣｃ
    dDĎďḊḋḌḍḎḏḐḑḒḓＤｄ eEÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệＥｅ fFḞḟＦｆ
    gGĜĝĞğĠġĢģǦǧǴǵḠḡＧｇ hHĤĥȞȟḢḣḤḥḦḧḨḩḪḫẖＨｈ iIÌÍÎÏìíîïĨĩĪīĬĭĮįİǏǐȈȉȊȋḬḭḮḯỈỉỊịＩｉ jJĴĵǰＪｊ
    kKĶķǨǩḰḱḲḳḴḵＫｋ lLĹĺĻļĽľḶḷḸḹḺḻḼḽＬｌ mMḾḿṀṁṂṃＭｍ nNÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋＮｎ
    oOÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợＯｏ pPṔṕṖṗＰｐ qQＱｑ
    rRŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟＲｒ sSŚśŜŝŞşŠšȘșṠṡṢṣṤṥṦṧṨṩＳｓ tTŢţŤťȚțṪṫṬṭṮṯṰṱẗＴｔ
    uUÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰựＵｕ vVṼṽṾṿＶｖ wWŴŵẀẁẂẃẄẅẆẇẈẉẘＷｗ
    xXẊẋẌẍＸｘ yYÝýÿŶŷŸȲȳẎẏẙỲỳỴỵỶỷỸỹＹｙ zZŹźŻżŽžẐẑẒẓẔẕＺｚ ßẞ æÆǢǣǼǽ ðÐ øØǾǿ þÞ đĐ ħĦ ĳĲ ŀĿ łŁ ŋŊ œŒ ŧŦ
    ſẛ ƀɃ ƃƂ ƅƄ ƈƇ ƌƋ ƒƑ ƕǶ ƙƘ ƚȽ ƞȠ ƣƢ ƥƤ ƨƧ ƭƬ ƴƳ ƶƵ ƹƸ ƽƼ ƿǷ ǆǄǅ ǉǇǈ ǌǊǋ ǝƎ ǥǤ ǳǱǲ ȝȜ ȣȢ ȥȤ ȼȻ ɂɁ ɇɆ
    ɉɈ ɋɊ ɍɌ ɏɎ ɓƁ ɔƆ ɖƉ ɗƊ əƏ ɛƐ ɠƓ ɣƔ ɨƗ ɩƖ ɯƜ ɲƝ ɵƟ ʀƦ ʃƩ ʈƮ ʉɄ ʊƱ ʋƲ ʌɅ ʒƷǮǯ ʹʹ ͱͰ ͳͲ ͷͶ ͻϽ ͼϾ ͽϿ
    αΆΑά βΒ γΓ δΔ εΈΕέ ζΖ ηΉΗή θΘϴ ιΊΐΙΪίϊ κΚ λΛ μΜµ νΝ ξΞ οΌΟό πΠ ρΡ σΣς τΤ υΎΥΫΰϋύ φΦ χΧ ψΨ ωΏΩώ ϒϓϔ
    ϗϏ ϙϘ ϛϚ ϝϜ ϟϞ ϡϠ ϣϢ ϥϤ ϧϦ ϩϨ ϫϪ ϭϬ ϯϮ ϲϹ ϳͿ ϸϷ ϻϺ аАӐӑӒӓ бБ вВ гЃГѓ дД еЀЁЕѐёӖӗ жЖӁӂӜӝ зЗӞӟ
    иЍИЙйѝӢӣӤӥ кЌКќ лЛ мМ нН оОӦӧ пП рР сС тТ уЎУўӮӯӰӱӲӳ фФ хХ цЦ чЧӴӵ шШ щЩ ъЪ ыЫӸӹ ьЬ эЭӬӭ юЮ яЯ ђЂ єЄ
    ѕЅ іІЇї јЈ љЉ њЊ ћЋ џЏ ѡѠ ѣѢ ѥѤ ѧѦ ѩѨ ѫѪ ѭѬ ѯѮ ѱѰ ѳѲ ѵѴѶѷ ѹѸ ѻѺ ѽѼ ѿѾ ҁҀ ҋҊ ҍҌ ҏҎ ґҐ ғҒ ҕҔ җҖ ҙҘ қҚ
    ҝҜ ҟҞ ҡҠ ңҢ ҥҤ ҧҦ ҩҨ ҫҪ ҭҬ үҮ ұҰ ҳҲ ҵҴ ҷҶ ҹҸ һҺ ҽҼ ҿҾ ӄӃ ӆӅ ӈӇ ӊӉ ӌӋ ӎӍ ӏӀ ӕӔ әӘӚӛ ӡӠ өӨӪӫ ӷӶ ӻӺ ӽӼ
    ӿӾ ԁԀ ԃԂ ԅԄ ԇԆ ԉԈ ԋԊ ԍԌ ԏԎ ԑԐ ԓԒ ԕԔ ԗԖ ԙԘ ԛԚ ԝԜ ԟԞ ԡԠ ԣԢ ԥԤ ԧԦ ԩԨ ԫԪ ԭԬ ԯԮ ỻỺ ỽỼ ỿỾ ⱥȺ ⱦȾ
"""
# Combining accents, the soft hyphen, joiners, variation selectors and the byte order mark are dropped.
_SILENT = (0xAD, *range(0x300, 0x370), 0x200C, 0x200D, *range(0xFE00, 0xFE10), 0xFEFF)
_FOLD: dict[int, str | None] = {
    **dict.fromkeys(_SILENT),
    **{ord(letter): group[0] for group in _LETTERS.split() for letter in group[1:]},
}

SOLID = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces, as ranges for a regular expression: Thai to Khmer, kana, Han, emoji."""

SEPARATORS = (
    "\x00-/:-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u02c2-\u02df\u037e\u0387\u055a-\u055f\u0589\u05be\u05c0\u05c3"
    "\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u1680\u2000-\u25ff\u2800-\u2bff\u2e00-\u2e7f"
    "\u3000-\u3004\u3008-\u3020\u3030\ud800-\uf8ff\ufe10-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    "\ufff0-\uffff"
)
"""Word separators: ASCII signs and capitals (text is folded first), punctuation, symbols, private use."""


def fold(text: str) -> str:
    """Return the text in lower case without accents; never longer than before.

    Covers Latin, Greek, Cyrillic and full-width letters and digits. Composed and decomposed spellings fold alike.
    """
    return text.translate(_FOLD)


MAX_CHARS = 1 << 17
"""Code points of a text that count. Bounds a vector's squared length before normalization, see `WORD_WEIGHT`."""

WORD_CHARS = 64
"""Code points after which a word is cut."""

_ASCII_WORD = re.compile(f"[0-9a-z]{{1,{WORD_CHARS}}}")

# A word weighs 16, and its grams together have about the same energy: round(16 / sqrt(grams)) each. So a code point
# adds at most 32 (two features of 16), and repetition multiplies by at most 16. The components of a text add up to
# at most 32 * 16 * 2**17 = 2**26 in absolute value, and their squares to at most 2**52. So every partial sum is an
# integer that float64 represents exactly, in any order of addition.
WORD_WEIGHT = 16

# round(16 * (1 + ln n)) for n occurrences, from 0; more than 31 count as 31. A literal: libraries differ in ln.
# fmt: off
LOG_TF = (
    0, 16, 27, 34, 38, 42, 45, 47, 49, 51, 53, 54, 56, 57, 58, 59,
    60, 61, 62, 63, 64, 65, 65, 66, 67, 68, 68, 69, 69, 70, 70, 71,
)
# fmt: on

GRAMS = (3, 4, 5)
"""Lengths of a word's grams."""

_MASK = (1 << 64) - 1
_BASE = 0x9E3779B97F4A7C15

POWERS = tuple(pow(_BASE, n, 1 << 64) for n in range(66))

SALTS = tuple((0xD6E8FEB86659FD93 + n * 0xC2B2AE3D27D4EB4F) & _MASK for n in range(6))

# The finaliser of MurmurHash3 x64 (Austin Appleby, public domain): every input bit reaches every output bit.
MIX_1 = 0xFF51AFD7ED558CCD

MIX_2 = 0xC4CEB9FE1A85EC53


def words(text: str) -> dict[str, int]:
    """Return the distinct words of a text, folded and without stop words, with their counts.

    Angle brackets mark both ends of a word; words are cut after 64 code points. Scripts without spaces and emoji
    give single characters and adjacent pairs, without brackets.
    """
    folded = fold(text[:MAX_CHARS])
    if folded.isascii():
        return _mark(_ASCII_WORD.findall(folded))
    word, run = _wide_patterns()
    counts = Counter(_mark(word.findall(folded)))
    for solid in run.findall(folded):
        counts.update(solid)
        counts.update(map(add, solid, solid[1:]))
    return counts


def ascii_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield each word of an ASCII text in order, including stop words, as `words` spells it, with its offset."""
    return ((found.start(), f"<{found[0]}>") for found in _ASCII_WORD.finditer(text.lower()))


def features(word: str, dimension: int) -> list[tuple[int, int]]:
    """Return the (component, signed weight) pairs of a word as `words` spells it: the word, then its 3- to 5-grams.

    A vector is the sum of log-tf times these pairs over all words, scaled to length 1.
    """
    codes = [ord(character) for character in word]
    hashed = sum(code * power for code, power in zip(codes, POWERS, strict=False))
    hashes = [_mix(hashed + SALTS[0])]
    for start in range(len(codes) - 2):
        value = codes[start] + codes[start + 1] * _BASE
        for n, code in enumerate(codes[start + 2 : start + 5], 2):
            value += code * POWERS[n]
            hashes.append(_mix(value + SALTS[n + 1]))
    gram = _gram_weight(len(hashes) - 1)
    weights = [WORD_WEIGHT] + [gram] * (len(hashes) - 1)
    return [(x & (dimension - 1), -w if x >> 63 else w) for x, w in zip(hashes, weights, strict=True)]


def log_tf(n: int) -> int:
    """Return the weight of n occurrences of a word, in sixteenths."""
    return LOG_TF[min(n, len(LOG_TF) - 1)]


@cache
def gram_weight(letters: int) -> int:
    """Return the weight of each gram of a word with this many letters, marks included, relative to WORD_WEIGHT."""
    return _gram_weight(sum(max(0, letters - n + 1) for n in GRAMS))


def plain_sums(text: str, dimension: int) -> list[int]:
    """Return the text's vector before it is scaled to length 1."""
    check()
    sums = [0] * dimension
    for word, n in words(text).items():
        times = log_tf(n)
        for component, weight in features(word, dimension):
            sums[component] += times * weight
    return sums


@cache
def _wide_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for a word and a run of solid characters. Lazy: compiling takes 4 ms, and ASCII needs none."""
    return re.compile(f"[^{SEPARATORS}{SOLID}]{{1,{WORD_CHARS}}}"), re.compile(f"[{SOLID}]+")


def _mark(found: list[str]) -> dict[str, int]:
    return {f"<{word}>": n for word, n in Counter(found).items() if word not in STOP_WORDS}


def _mix(value: int) -> int:
    value &= _MASK
    value = ((value ^ value >> 33) * MIX_1) & _MASK
    value = ((value ^ value >> 33) * MIX_2) & _MASK
    return value ^ value >> 33


def _gram_weight(grams: int) -> int:
    return round(WORD_WEIGHT / math.sqrt(grams)) if grams else 0
