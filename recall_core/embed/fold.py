"""Pinned tables of case, accents and word characters, equal on every version of Python."""

from __future__ import annotations

# A plain letter, then every letter that folds to it. The interpreter's own tables change with its Unicode version.
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
# Combining accents, the soft hyphen, joiners, variation selectors and the byte order mark leave no trace.
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
"""Characters that are written without spaces, as ranges for a regular expression: Thai to Khmer, kana, Han, emoji."""

SEPARATORS = (
    "\x00-/:-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u02c2-\u02df\u037e\u0387\u055a-\u055f\u0589\u05be\u05c0\u05c3"
    "\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u1680\u2000-\u25ff\u2800-\u2bff\u2e00-\u2e7f"
    "\u3000-\u3004\u3008-\u3020\u3030\ud800-\uf8ff\ufe10-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    "\ufff0-\uffff"
)
"""What stands between words: ASCII signs and capitals (folded before), punctuation, symbols, private use."""


def fold(text: str) -> str:
    """The text in lower case without accents; never longer than it was.

    Covers Latin, Greek, Cyrillic and full-width letters and digits; a composed letter and its decomposed spelling
    fold alike.
    """
    return text.translate(_FOLD)
