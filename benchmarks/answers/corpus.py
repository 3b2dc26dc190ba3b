"""An invented corpus with examples of everything that files contain, the same on every machine for one seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, count, product
from random import Random
from typing import NamedTuple

TOPICS = {
    "deploy": "deploy rollback release canary balancer node traffic downtime cluster version image pipeline",
    "retry": "retry backoff timeout budget failure attempt jitter error queue request storm limit",
    "storage": "database index page vacuum journal checkpoint table row key disk snapshot backup",
    "search": "query ranking score token stemming vector cosine relevance document snippet chunk signal",
    "garden": "tomato soil compost seed water root leaf prune shade harvest frost bee",
    "kitchen": "bread flour yeast oven butter salt knife dough recipe simmer garlic onion",
    "office": "chair desk meeting calendar printer badge invoice lunch window plant travel expense",
    "music": "violin chord rhythm melody tempo choir concert piano drum score tuning stage",
}
"""Words by topic. `score` belongs to two topics on purpose."""

GLUE = "the of and in to with for when before after every some which must may never usually a an is are not".split()
CODE_WORDS = "parseConfig retry_budget C++ foo-bar e.g. i.e. v2.1 HTTP/2 node.js $PATH don't it's 3.14 0x1f".split()
ACCENTED = "naïve façade Überprüfung größe élève déployé señor año Łódź žába smörgås Ångström œuvre ﬁle".split()
CJK = "数据库检索系统文档分词向量相似度回滚部署失败重试预算花园厨房音乐会议日历の検索とデータを部品でする검색문서"
FILLER = tuple(map("".join, product("ba ce di fo gu ka le mi no pu ra se ti vo".split(), repeat=3)))
"""Invented words, drawn by Zipf's law."""

_ZIPF = tuple(accumulate(1 / (rank + 2.7) for rank in range(1, len(FILLER) + 1)))
_FIRST_DAY, _DAYS = 1_640_995_200, 1_640  # files change within these days from 2022-01-01 on
_ODD_NAMES = ("O'Brien", "100%_done", "with space", "[draft]", "-dash", "#1", "Café", "深度", "a,b", "{braces}")


class File(NamedTuple):
    """One file of the corpus. path: relative to the folder of the store."""

    path: str
    content: bytes
    mtime_ns: int
    topic: str


class Form(NamedTuple):
    """A kind of file: its folder, its writer, and how many there are in a full corpus."""

    folder: str
    suffix: str
    write: Callable[[Random, str, str], str]
    files: int


def files(seed: int, *, share: float = 1.0) -> tuple[File, ...]:
    """Return the corpus of that seed. share: the part of it to make; there is at least one file of each form."""
    random = Random(f"corpus {seed}")
    names = (f"{prefix}{number}" for number, prefix in enumerate(_prefixes(random)))
    made: list[File] = []
    for form in FORMS:
        made += [_file(form, next(names), random) for _ in range(max(1, round(form.files * share)))]
    copies = [(each, f"archive/copies/{n}-{each.path.rpartition('/')[2]}") for n, each in enumerate(made[::17])]
    return (
        *made,
        *(each._replace(path=path, mtime_ns=_moment(random)) for each, path in copies),
        File("notes/empty.txt", b"", _moment(random), "office"),
        *(
            File(path, path.encode(), _moment(random), "office")
            for path in ("notes/twice.txt", "notes/notes/twice.txt")
        ),
        File("data/records.jsonl", records(random, max(5, round(60 * share))), _moment(random), "data"),
        File("data/people.jsonl", people(random, max(3, round(20 * share))), _moment(random), "data"),
    )


def sentence(random: Random, topic: str, *, least: int = 5, most: int = 18) -> str:
    """Return a sentence on a topic, with a capital and a full stop."""
    text = " ".join(_word(random, topic) for _ in range(random.randint(least, most)))
    return f"{text[:1].upper()}{text[1:]}{random.choice('....?!')}"


def records(random: Random, number: int) -> bytes:
    """Return JSON lines with titles, texts and metadata of every type."""
    return _lines(_record(random, n) for n in range(number))


def people(random: Random, number: int) -> bytes:
    """Return JSON lines as other programs write them: `id`, `content`, no title."""
    rows = ({"id": n, "content": sentence(random, "office"), "team": random.choice("abc")} for n in range(number))
    return _lines(rows)


def wide(seed: int, number: int) -> bytes:
    """Return so many short JSON lines that a store does not score every row."""
    random = Random(f"wide {seed}")
    topics = tuple(TOPICS)
    rows = (
        {"id": f"r{n}", "text": sentence(random, topics[n % len(topics)], most=9), "shelf": n % 50}
        for n in range(number)
    )
    return _lines(rows)


def is_plain(file: File, folder: str) -> bool:
    """Return True if the file is in that folder and not empty."""
    return file.path.startswith(folder) and bool(file.content)


def text_of(file: File) -> str:
    """Return the text that a question can be cut from."""
    return file.content.decode("utf-8")


def _prefixes(random: Random) -> Iterator[str]:
    yield from _ODD_NAMES
    yield from (random.choice(("plan", "guide", "log", "idea", "how-to", "Report")) for _ in count())


def _file(form: Form, name: str, random: Random) -> File:
    topic = random.choice(tuple(TOPICS))
    text = form.write(random, topic, name)
    folder = form.folder.format(topic=topic)
    return File(f"{folder}/{name}{form.suffix}", text.encode("utf-8"), _moment(random), topic)


def _moment(random: Random) -> int:
    """Return a time in nanoseconds, sometimes exactly at midnight."""
    day = _FIRST_DAY + random.randrange(_DAYS) * 86_400
    return day * 10**9 if random.random() < 0.1 else day * 10**9 + random.randrange(86_400 * 10**9)


def _word(random: Random, topic: str) -> str:
    kind = random.random()
    if kind < 0.45:
        return random.choice(GLUE)
    if kind < 0.8:
        return random.choice(TOPICS[topic].split()) + random.choice(("", "", "", "s", "ing", "ed"))
    if kind < 0.84:
        return random.choice(CODE_WORDS)
    return _filler(random, 1)[0]


def _filler(random: Random, number: int) -> list[str]:
    return random.choices(FILLER, cum_weights=_ZIPF, k=number)


def _paragraph(random: Random, topic: str) -> str:
    return " ".join(sentence(random, topic) for _ in range(random.randint(2, 7)))


def _prose(random: Random, topic: str, name: str) -> str:
    return "\n\n".join(_paragraph(random, topic) for _ in range(random.randint(2, 9))) + "\n"


def _markdown(random: Random, topic: str, name: str) -> str:
    parts = [f"# {name.title()} on {topic}"]
    for n in range(random.randint(2, 6)):
        parts.append(f"{'#' * random.randint(2, 4)} {n + 1}. {sentence(random, topic, least=2, most=5)[:-1]}")
        parts += [random.choice(_SECTIONS)(random, topic, name) for _ in range(random.randint(1, 3))]
    return "\n\n".join(parts) + "\n"


def _list(random: Random, topic: str, name: str) -> str:
    return "\n".join(f"- {sentence(random, topic)}" for _ in range(random.randint(2, 6)))


def _fence(random: Random, topic: str, name: str) -> str:
    return f"```python\n{_code(random, topic, name)}```"


def _grid(random: Random, topic: str, name: str) -> str:
    words = TOPICS[topic].split()
    rows = [f"| {random.choice(words)} | {random.randint(0, 999)} |" for _ in range(random.randint(2, 5))]
    return "\n".join(["| name | value |", "|---|---|", *rows])


def _code(random: Random, topic: str, name: str) -> str:
    words = TOPICS[topic].split()
    blocks = [f'"""{sentence(random, topic)}"""\n\nimport os\n']
    for n in range(random.randint(1, 6)):
        head = f"def {random.choice(words)}_{random.choice(words)}_{n}({random.choice(words)}, *, limit={n}):"
        body = [f"    # {sentence(random, topic)}", f"    {random.choice(words)} = os.environ.get('{topic.upper()}')"]
        body += [f"    {random.choice(words)}({random.randint(0, 99)})" for _ in range(random.randint(1, 8))]
        blocks.append("\n".join([head, f'    """{sentence(random, topic)}"""', *body, "    return limit\n"]))
    return "\n\n".join(blocks)


def _short(random: Random, topic: str, name: str) -> str:
    return sentence(random, topic, least=2, most=9)


def _crlf(random: Random, topic: str, name: str) -> str:
    return _prose(random, topic, name).replace("\n", "\r\n")


def _accented(random: Random, topic: str, name: str) -> str:
    def mixed() -> str:
        return " ".join(random.choice((*ACCENTED, *TOPICS[topic].split())) for _ in range(random.randint(5, 30)))

    return f"# {random.choice(ACCENTED)}\n\n" + "\n\n".join(f"{mixed()}." for _ in range(random.randint(2, 6)))


def _cjk(random: Random, topic: str, name: str) -> str:
    def mixed() -> str:
        run = "".join(random.choices(CJK, k=random.randint(6, 24)))
        return f"{run} {random.choice(TOPICS[topic].split())} {''.join(random.choices(CJK, k=6))}。"

    return "# 文档\n\n" + "\n".join("".join(mixed() for _ in range(3)) for _ in range(random.randint(2, 8)))


def _long_line(random: Random, topic: str, name: str) -> str:
    solid = "".join(_filler(random, 2_400)) if random.random() < 0.5 else ""  # longer than the limit of a chunk
    return " ".join(sentence(random, topic) for _ in range(random.randint(60, 120))) + solid


def _csv(random: Random, topic: str, name: str) -> str:
    words = TOPICS[topic].split()
    rows = (f"{n},{random.choice(words)},{random.random():.3f},{random.choice(words)}" for n in range(40))
    return "\n".join(["n,name,value,near", *rows]) + "\n"


def _record(random: Random, number: int) -> Mapping[str, object]:
    topic = random.choice(tuple(TOPICS))
    extra = {
        "year": random.randint(2015, 2026),
        "rating": round(random.uniform(0, 5), 2),
        "draft": random.random() < 0.3,
        "author": random.choice(("ana", "Bo", "çelik", "d'Arcy")),
        "note": None,
        "place": {"shelf": random.randint(1, 9)},
        "review-by": f"2025-{random.randint(1, 12):02}-15",
        "keys": random.sample(TOPICS[topic].split(), 2),
    }
    kept = {key: value for key, value in extra.items() if random.random() < 0.7}
    title = {} if random.random() < 0.2 else {"title": sentence(random, topic, least=2, most=6)[:-1]}
    return {"_id": f"{topic}-{number}", **title, "text": _paragraph(random, topic), **kept}


def _lines(rows: Iterator[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


_SECTIONS = (
    *(lambda random, topic, name: _paragraph(random, topic) for _ in range(4)),
    _list,
    _fence,
    _grid,
)

FORMS = (
    Form("docs/{topic}", ".md", _markdown, 44),
    Form("docs/api/v1", ".md", _markdown, 8),
    Form("src/{topic}", ".py", _code, 24),
    Form("notes", ".txt", _prose, 46),
    Form("notes/short", ".txt", _short, 24),
    Form("wiki", ".md", _accented, 10),
    Form("wiki/zh", ".md", _cjk, 10),
    Form("archive/{topic}", ".txt", _crlf, 14),
    Form("archive/lines", ".txt", _long_line, 4),
    Form("archive/tables", ".csv", _csv, 4),
)
