"""Sixty queries: quotes, abbreviations, contracted verbs, letters, names, CJK, numbers; each with its intended row.

Also words of these shapes, from which properties build their own queries.
"""

from __future__ import annotations

from recall_core.store.sqlite.store import SqliteStore
from tests.builders import memory_store, new_file, put

TEXTS = {
    "apostrophe.txt": "I'd rather you'd not. They'll say we've gone, you're late and I'm early; she'd know what "
    "I'd do.",
    "letters.txt": "e.g. this, e.g. that, i.e. both, etc. and so on, cf. others, viz. some; see et al. at 9 "
    "a.m. or p.m.",
    "grades.txt": "Grades run from a to f: a b c d e f g. A d is a poor grade, an e is worse, m and v are no grades.",
    "asking.txt": "Please find articles using information that discuss, describe and explain things; tell "
    "me, show me.",
    "cpp.txt": "Templates in C++ are instantiated by the compiler where they are used.",
    "c.txt": "The language C has pointers and no garbage collector.",
    "csharp.txt": "Properties of C# have accessors written as get and set.",
    "x86.txt": "Registers of x86 processors are named eax and ebx.",
    "arm.txt": "Registers of ARM processors are numbered.",
    "snake.txt": "The function foo_bar returns the number of open sockets.",
    "dotted.txt": "Set a.b.c in the settings to turn the cache on.",
    "flag.txt": "Pass -v to print verbose output, and -q for none.",
    "usa.txt": "Trade of the U.S. with its neighbours grew in the last century.",
    "us.txt": "Let us trade with our neighbours, and trade more each century.",
    "phd.txt": "A Ph.D. thesis needs a supervisor and takes years to write.",
    "thesis.txt": "A thesis is a statement; a bachelor thesis takes weeks to write and needs no supervisor "
    "for years.",
    "vitamin_a.txt": "Vitamin A is good for the eyes.",
    "vitamin_c.txt": "Vitamin C is good against scurvy.",
    "vitamin_d.txt": "Vitamin D comes from the sun.",
    "tcell.txt": "T cells are white and fight infection.",
    "cell.txt": "Cells of a prison are white and hold people.",
    "kyoto.txt": "京都は日本の古い都です。",
    "tokyo.txt": "東京は日本の首都です。",
    "beijing.txt": "北京是中国的首都。",
    "port.txt": "The server listens on port 8080 unless another is given.",
    "years.txt": "Between 1914 and 1918 the harbour was closed.",
    "version.txt": "Version 3.11 brought faster frames; version 3.12 brought better errors.",
    "wings.txt": "Experiments on the pressure over slender wings at small angles of attack, with and without flow.",
    "flow.txt": "On the flow about slender wings at small angles. A paper.",
    "slender.txt": "Slender wings, slender bodies, small angles, small wings: results of experiments on flow "
    "and on wings.",
    "hamlet.txt": "To be, or not to be, that is the question of the prince.",
    "being.txt": "The question is what it is to be a prince, and that is not a question to be put.",
    "etc.txt": "Settings of the machine are kept in /etc/hosts and in files beside it.",
    "find.txt": "The command find walks a tree of folders.",
    "find_file.txt": "find_file looks for one name along a path of folders and files in a tree.",
    "water.txt": "Boiling water carries heat through copper pipes faster than air.",
    "air.txt": "Air carries heat slowly through pipes of clay.",
    "bees.txt": "Bees dance to tell where flowers stand.",
    "swarm.txt": "A swarm of bees leaves the hive with its queen in spring.",
    "crete.txt": "Palaces of Crete had drains of clay and light wells.",
    **{f"x{n}.txt": f"filler {n} of the rest, a text about nothing at all and so on" for n in range(60)},
}

QUESTIONS = (
    # Quotes.
    ('what is known about "the flow about slender wings at small angles"', "flow.txt"),
    ('experiments on wings and results of flow "slender wings at small angles of attack"', "wings.txt"),
    ('"to be, or not to be" question of the prince', "hamlet.txt"),
    ('"be a prince" question', "being.txt"),
    ('slender wings "no such phrase" pressure', "wings.txt"),
    ('heat "copper pipes"', "water.txt"),
    ('heat "pipes of clay"', "air.txt"),
    ('"e.g. this" slender', "letters.txt"),
    ('"I\'d do" water', "apostrophe.txt"),
    ('"swarm of bees', "swarm.txt"),
    ('"find articles" bees', "asking.txt"),
    # Abbreviations.
    ("metals that carry heat, e.g. copper", "water.txt"),
    ("insects, i.e. bees, leaving their hive", "swarm.txt"),
    ("drains, light wells, etc. of palaces", "crete.txt"),
    ("cf. eyes and vitamin A", "vitamin_a.txt"),
    ("bees et al. telling of flowers", "bees.txt"),
    ("processors, viz. registers of ARM", "arm.txt"),
    ("which port listens at 9 a.m.", "port.txt"),
    ("was the harbour closed at 5 p.m.?", "years.txt"),
    ("E.g. copper carrying heat", "water.txt"),
    ("who kept bees, e. g. in a hive", "swarm.txt"),
    ("trade of the U.S.", "usa.txt"),
    ("U.S. century", "usa.txt"),
    ("let us trade", "us.txt"),
    ("who supervises a Ph.D. thesis", "phd.txt"),
    ("e.g.", "letters.txt"),
    # Contracted verbs.
    ("I'd like to know how boiling water carries heat", "water.txt"),
    ("what they'll do when a swarm leaves", "swarm.txt"),
    ("we've lost the light wells of Crete", "crete.txt"),
    ("I\u2019m asking where vitamin D comes from", "vitamin_d.txt"),
    ("you\u2019re to say what fights infection", "tcell.txt"),
    ("who'd walk a tree of folders", "find.txt"),
    ("it's a hive, isn't it", "swarm.txt"),
    # Single letters.
    ("which language is C", "c.txt"),
    ("vitamin C", "vitamin_c.txt"),
    ("vitamin D", "vitamin_d.txt"),
    ("T cells", "tcell.txt"),
    ("white cells of a prison", "cell.txt"),
    ("plan b for copper pipes", "water.txt"),
    ("a b c d e f g", "grades.txt"),
    ("the d in boiling water", "water.txt"),
    # Names.
    ("how are templates of C++ instantiated", "cpp.txt"),
    ("accessors in C#", "csharp.txt"),
    ("what does foo_bar return", "snake.txt"),
    ("x86 registers", "x86.txt"),
    ("what is a.b.c", "dotted.txt"),
    ("-v output", "flag.txt"),
    ("find_file", "find_file.txt"),
    ("what does /etc/hosts hold", "etc.txt"),
    # Long questions.
    ("find articles that discuss the use of drains in Crete", "crete.txt"),
    ("please give information about bees that dance", "bees.txt"),
    ("describe anything known on eax and ebx", "x86.txt"),
    ("find command", "find.txt"),
    # CJK.
    ("京都", "kyoto.txt"),
    ("东京 or 京都 の古い", "kyoto.txt"),
    ('"中国的首都"', "beijing.txt"),
    ("I'd find 東京", "tokyo.txt"),
    # Numbers.
    ("port 8080", "port.txt"),
    ("closed in 1914, i.e. before 1918", "years.txt"),
    ("what came with 3.12, e.g. errors", "version.txt"),
)

SHAPES = (
    *('"alpha beta"', '"alpha alpha"', '"red 色"', '"unknown alpha"', '"e.g. alpha"', '"the"', '"a b"'),
    *("e.g.", "i.e.", "etc.", "et al.", "cf.", "I'd", "we've", "they\u2019ll", "I\u2019m", "U.S.", "Ph.D.", "a.b.c"),
    *("d", "x", "C", "T", "s", "C++", "C#", "-v", "x86", "foo_bar", "3.11", "8080", "红色", "色", "京"),
    *("find", "articles", "using", "information", "please", "find_alpha", "the", "of"),
)
"""Words and phrases of every kind that queries treat specially, next to plain ones."""


def answering() -> SqliteStore:
    """Return a store of the texts."""
    store = memory_store()
    put(store, *(new_file(path, [text]) for path, text in TEXTS.items()))
    return store
