"""Files that questions name: judged queries in every format, facts, settings, saved queries, and broken files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.answers.corpus import TOPICS, File, sentence, text_of

FOLDER = "files"
"""Folder of these files, in the folder of a store. No store adds it."""

QUERIES = 26


def write(folder: Path, corpus: Sequence[File], *, seed: int) -> None:
    """Write all files, for a store of that corpus."""
    folder.mkdir()
    for name, text in texts(corpus, Random(f"inputs {seed}")).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "garbage.bin").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "latin.txt").write_bytes("Überprüfung".encode("latin-1"))


def texts(corpus: Sequence[File], random: Random) -> dict[str, str]:
    """Return contents by file name."""
    queries = _queries(random)
    grades = [(query, name, grade) for query in queries for name, grade in _judged(query, corpus, random).items()]
    return {
        "queries.jsonl": _json_lines({"_id": query, "text": text} for query, text in queries.items()),
        "queries.tsv": "".join(f"{query}\t{text}\n" for query, text in queries.items()),
        "few.jsonl": _json_lines({"id": query, "text": text} for query, text in list(queries.items())[:4]),
        "qrels.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{name}\t{grade}\n" for q, name, grade in grades),
        "qrels.trec": "".join(f"{q} 0 {name.replace(' ', '%20')} {grade}\n" for q, name, grade in grades),
        "quepid.csv": "query,docid,rating\n"
        + "".join(f'{queries[q]},"{name}",{grade}\n' for q, name, grade in grades if '"' not in name),
        "run.trec": _run(grades, random),
        "facts.jsonl": _json_lines(_fact(n, file, random) for n, file in enumerate(_with_text(corpus)[::7])),
        **_SETTINGS,
        **_SAVED,
        **_BROKEN,
    }


def _queries(random: Random) -> dict[str, str]:
    """Return query texts by id. An id begins with the topic of the query."""
    topics = [tuple(TOPICS)[n % len(TOPICS)] for n in range(QUERIES)]
    return {
        f"{topic}-{n}": " ".join(random.sample(TOPICS[topic].split(), random.randint(1, 4)))
        for n, topic in enumerate(topics)
    }


def _judged(query: str, corpus: Sequence[File], random: Random) -> dict[str, int]:
    """Return grades by document: of the topic, of other topics, and sometimes a missing document."""
    topic = query.partition("-")[0]
    near = [file.path for file in corpus if file.topic == topic]
    far = [file.path for file in corpus if file.topic != topic]
    judged = {path: random.choice((1, 1, 2, 3)) for path in random.sample(near, min(5, len(near)))}
    judged |= dict.fromkeys(random.sample(far, min(3, len(far))), 0)
    return judged if random.random() < 0.8 else judged | {"gone/away.md": 1}


def _run(grades: Sequence[tuple[str, str, int]], random: Random) -> str:
    rows = [(query, name.replace(" ", "%20"), random.random() + grade) for query, name, grade in grades]
    ranked = sorted(rows, key=lambda row: (row[0], -row[2], row[1]))
    return "".join(f"{q} Q0 {name} {n} {score:.4f} other\n" for n, (q, name, score) in enumerate(ranked, 1))


def _with_text(corpus: Sequence[File]) -> list[File]:
    return [file for file in corpus if len(file.content) > 20 and not file.path.endswith(".jsonl")]


def _fact(number: int, file: File, random: Random) -> Mapping[str, object]:
    """Return a question and the words that its context must contain: two of the document, or an unknown one."""
    words = text_of(file).split()
    first = random.randrange(max(1, len(words) - 6))
    wanted = words[first + 2 : first + 4] if random.random() < 0.8 else ["nowhere-to-be-found"]
    gold = file.path if random.random() < 0.8 else f"{file.path}:1-3"
    return {
        "id": f"fact-{number}",
        "query": " ".join(words[first : first + 6]) or sentence(random, file.topic),
        "gold": gold,
        "must_contain": wanted or ["anything"],
    }


def _json_lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_SETTINGS = {
    "even.toml": "bm25_weight = 0.5\nvector_weight = 0.5\nnormalize = 'max'\n",
    "ranks.toml": "fusion = 'rrf'\nrrf_k = 10\nsparse_recall = false\n",
    "words.toml": "lexical_model = 'bm25f'\nbm25_b = 0.3\ntitle_weight = 1.0\nmatch = 'all'\n",
}
_SAVED = {
    "saved.rql": "-- kept for the night\nselect doc.path, score from chunk\n"
    "using lexical('rollback'), semantic('undo')\nfilter doc.tag = 'docs' -- no notes\nlimit 5\n",
    "wrong.rql": "SELECT * FROM chunk\nFILTER doc.tgas = 'docs'\n",
}
_BROKEN = {
    "other-queries.jsonl": '{"_id": "deploy-0", "text": "quite another text"}\n',
    "twice.jsonl": '{"_id": "a", "text": "retry"}\n{"_id": "a", "text": "again"}\n',
    "endless.jsonl": '{"_id": "a", "text": "retry", "number": 1e999}\n',
    "bad-queries.jsonl": '{"_id": "q1", "text": "retry"}\n{"_id": "q1"}\n',
    "bad-qrels.tsv": "q1\tdocs/a.md\tmuch\n",
    "bad-run.trec": "q1 Q0 docs/a.md first 1.0\n",
    "bad-facts.jsonl": '{"id": "a", "query": "retry"}\n',
    "bad-baseline.json": '{"schema_version": "1", "ok": true}\n',
    "bad.toml": "fusion = 'best'\n",
    "not-toml.toml": "fusion = \n",
    "not-an-export.jsonl": '{"hello": 1}\n',
}
