"""Measure how well questions find texts by their words, in four languages, by identifiers and in code.

    python -m benchmarks.words manpages DEBS…      descriptions of translated manual pages, each asked for its page
    python -m benchmarks.words identifiers         identifiers in notes, compared with notes of their loose pieces
    python -m benchmarks.words code SDISTS…        first lines of docstrings, each asked for its file

`--json FILE` records the value of each question. `--before FILE` compares with an earlier recording.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from benchmarks.files import corpora
from benchmarks.sparse import TOPICS, manual
from recall_core.api.engine import result_of
from recall_core.api.recall import Recall
from recall_core.evaluate.figures import compare_columns
from recall_core.evaluate.measures import EvalOptions
from recall_man import ManPage

MODES = ("lexical", "hybrid")
PAGES, QUESTIONS = 400, 300
_NOT_ENGLISH = re.compile(r"^(?!.*\b(?:the|of|and|to|for|with|from)\b).*[A-Za-z]{3}")
LANGUAGES: Mapping[str, re.Pattern[str]] = {
    "de": _NOT_ENGLISH,
    "fr": _NOT_ENGLISH,
    "ja": re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]{2}"),
    "zh_CN": re.compile(r"[\u4e00-\u9fff]{2}"),
}
"""Folders of manual pages, with what a translated description matches. English ones remain in every package."""
LEAST_BODY = 60
"""Characters. Shorter pages only refer to another page."""
LEAST_WORDS = 5
"""Words in the first line of a docstring that can be a question."""
IDENTIFIERS = (
    "v2.8.3 svc-cloud-dev crew:run 192.168.10.25 2024-03-05 node.js C++ .NET C# F# #include $HOME @decorator "
    "foo_bar.baz utf-8 x86_64 std::vector /etc/hosts user@example.org https://example.org/a/b CVE-2024-3094"
).split()
LENGTHS = (25, 100, 400)
"""Words in a note that contains the identifier."""

_DESCRIPTION = re.compile(r"^.*? [-–—]{1,2} (.+)$", re.M)
_MARKUP = re.compile(r":[a-z:]+:(?=`)|[`*~\"]")
_TESTS_AND_DOCS = re.compile(r"(?:^|[/_])(?:tests?|conftest|docs?|examples?)(?:[/_.]|$)")

T = TypeVar("T")
Results = dict[str, dict[str, float]]
"""The value of each question, by column such as `de, lexical, mrr@10`."""


def measure_pages(packages: Sequence[Path], settings: Sequence[str]) -> Results:
    """Ask for manual pages by their descriptions. Each language has its own store."""
    results: Results = {}
    sources = dict(each for path in packages for each in read_package(path, "usr/share/man"))
    for language, is_translated in LANGUAGES.items():
        pages: dict[str, str] = {}
        for name in sorted(name for name in sources if name.startswith(f"{language}/man")):
            description, body = split_page(sources[name])
            if is_translated.search(description) and len(body) >= LEAST_BODY and body not in pages.values():
                pages.setdefault(description, body)
        chosen = choose_evenly(list(pages.items()), PAGES)
        texts = {f"{number:03}.txt": body for number, (_, body) in enumerate(chosen)}
        answers = {question: name for name, (question, _) in zip(texts, chosen, strict=True)}
        if answers:
            results |= measure_answers(texts, {language: answers}, settings, "mrr@10,success@5")
    return results


def measure_code(packages: Sequence[Path], settings: Sequence[str]) -> Results:
    """Ask for Python files by the first lines of docstrings, which are removed from the files."""
    texts = {
        f"{package.name.removesuffix('.tar.gz')}/{name}": raw.decode()
        for package in packages
        for name, raw in read_package(package, package.name.removesuffix(".tar.gz"))
        if name.endswith(".py") and not _TESTS_AND_DOCS.search(name)
    }
    found = [(name, place, ask) for name in sorted(texts) for ask, place in docstrings(texts[name])]
    found.sort(key=lambda each: (each[0], each[1].start))
    times = Counter(ask for _, _, ask in found)
    chosen = choose_evenly([each for each in found if times[each[2]] == 1], QUESTIONS)
    for name, place, _ in reversed(chosen):  # from the end of a file, so that line numbers stay right
        texts[name] = without_docstring(texts[name], place)
    groups = {
        "docstring": {ask: name for name, _, ask in chosen},
        "how to": {f"how to {ask}": name for name, _, ask in chosen},
    }
    return measure_answers(texts, groups, settings, "mrr@10,success@5,ndcg@10")


def measure_identifiers(_: Sequence[Path], settings: Sequence[str]) -> Results:
    """Check whether a note with an identifier ranks before a note with its loose pieces. 1 means that it does."""
    results: Results = {}
    prose = {f"note-{n:02}.txt": topic.note for n, topic in enumerate(TOPICS)}
    prose |= {f"section-{n:02}.txt": manual(n, 0).split("\n\n")[2] for n in range(len(TOPICS))}
    for identifier in IDENTIFIERS:
        for length in LENGTHS:
            texts = {**prose, "literal.txt": literal_note(identifier, length), "pieces.txt": pieces_note(identifier)}
            with filled_store(texts, settings) as recall:
                for mode in MODES:
                    for way, question in (("unquoted", identifier), ("quoted", f'"{identifier}"')):
                        rows = recall.search(question, k=100, mode=mode)["results"]
                        names = [Path(row["doc"]["path"]).name for row in rows]
                        notes = [name for name in names if name in ("literal.txt", "pieces.txt")]
                        column = results.setdefault(f"{mode}, {way}, {length} words", {})
                        column[identifier] = float(notes[:1] == ["literal.txt"])
    return results


def measure_answers(
    texts: Mapping[str, str], groups: Mapping[str, Mapping[str, str]], settings: Sequence[str], measures: str
) -> Results:
    """Return the results of each group of questions to one store of these texts.

    groups: the name of the one relevant text, by question, by group.
    """
    results: Results = {}
    with filled_store(texts, settings) as recall, tempfile.TemporaryDirectory() as name:
        queries, qrels = Path(name, "queries.jsonl"), Path(name, "qrels.tsv")
        for group, answers in groups.items():
            lines = (json.dumps({"_id": str(n), "text": question}) for n, question in enumerate(answers))
            queries.write_text("\n".join(lines), encoding="utf-8")
            rows = (f"{n}\ttexts/{document}\t1" for n, document in enumerate(answers.values()))
            qrels.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]), encoding="utf-8")
            options = EvalOptions(queries=queries, qrels=qrels, modes=",".join(MODES), metrics=measures)
            views = result_of(recall.evaluate(options))["evaluation"]["modes"]
            for mode, view in zip(MODES, views, strict=True):
                for each in view["measures"]:
                    values = {question: each["values"][str(n)] for n, question in enumerate(answers)}
                    results[f"{group}, {mode}, {each['measure']}"] = values
    return results


@contextmanager
def filled_store(texts: Mapping[str, str], settings: Sequence[str]) -> Iterator[Recall]:
    """Open a temporary store of these texts, with vectors of `hash`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for path, text in texts.items():
            place = folder / "texts" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        Recall.init(str(folder), embedding="hash", settings=settings)
        with Recall.open(str(folder)) as recall:
            recall.index(str(folder / "texts"))
            yield recall


def read_package(path: Path, inside: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files below a folder of a package."""
    return corpora.files(corpora.Package("", path.name, "", inside, (), ""), path)


def split_page(raw: bytes) -> tuple[str, str]:
    """Return the description in the NAME section of a manual page, and the text of the sections after it."""
    page = ManPage(raw.decode(errors="replace"))
    headings = [mark.offset for mark in page.marks if mark.kind == "heading"]
    if len(headings) < 2:
        return "", ""
    description = _DESCRIPTION.search(page.text[headings[0] : headings[1]])
    return (description[1].strip() if description else ""), page.text[headings[1] :]


def docstrings(source: str) -> Iterator[tuple[str, range]]:
    """Yield the question of each docstring below the module's, with the numbers of its lines from 0."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first, *others = _MARKUP.sub("", (ast.get_docstring(node) or "").partition("\n")[0]).split() or [""]
        place = range(node.body[0].lineno - 1, node.body[0].end_lineno or 0)
        if len(others) + 1 >= LEAST_WORDS and lines[place[0]].lstrip()[0] in "\"'rR":
            is_plain = first[1:] == first[1:].lower()
            first = first[0].lower() + first[1:] if is_plain else first
            yield " ".join([first, *others]).removesuffix("."), place


def without_docstring(source: str, place: range) -> str:
    """Return the source with an ellipsis instead of the docstring in these lines."""
    lines = source.split("\n")
    start = lines[place[0]]
    indent = start[: len(start) - len(start.lstrip())]
    return "\n".join([*lines[: place.start], f"{indent}...", *lines[place.stop :]])


def literal_note(identifier: str, length: int) -> str:
    """Return prose of this many words, with the identifier in the middle."""
    words = list(islice(cycle(manual(0, 1).split("\n\n", 2)[2].split()), length - 1))
    return " ".join([*words[: length // 2], identifier, *words[length // 2 :]])


def pieces_note(identifier: str) -> str:
    """Return a short note with the pieces of the identifier in reverse order, each after two other words."""
    words = iter(cycle("yesterday someone wrote about these many small things again".split()))
    pieces = reversed(re.findall(r"[^\W_]+", identifier))
    return " ".join(word for piece in pieces for word in (next(words), next(words), piece)) + " and more."


def choose_evenly(items: Sequence[T], count: int) -> list[T]:
    """Return at most `count` items, evenly spaced."""
    count = min(count, len(items))
    return [items[number * len(items) // count] for number in range(count)]


def table(results: Results, before: Results) -> Iterator[str]:
    """Yield a line for each column: questions and mean, with the difference from an earlier recording."""
    yield f"{'':<32}{'questions':>9}{'mean':>8}" + (f"{'before':>8}{'change':>9}  p" if before else "")
    for column, values in results.items():
        line = f"{column:<32}{len(values):>9}{sum(values.values()) / len(values):>8.4f}"
        was = {question: value for question, value in before.get(column, {}).items() if question in values}
        if was:
            [paired] = compare_columns([[values[question] for question in was]], [list(was.values())])
            line += f"{sum(was.values()) / len(was):>8.4f}{paired.difference:>+9.4f}  {paired.p:.4f} {paired.verdict}"
            line += f", {paired.wins} better, {paired.losses} worse of {len(was)}"
        yield line


def failures(results: Results) -> Iterator[str]:
    """Yield the identifiers that failed, by column, then the total."""
    for column, values in results.items():
        failed = [identifier for identifier, value in values.items() if not value]
        if failed:
            yield f"{column}: {' '.join(failed)}"
    for mode in MODES:
        checks = [value for column, each in results.items() if column.startswith(mode) for value in each.values()]
        yield f"{mode}: {sum(checks):.0f} of {len(checks)} checks passed"


PARTS: Mapping[str, Callable[[Sequence[Path], Sequence[str]], Results]] = {
    "manpages": measure_pages,
    "identifiers": measure_identifiers,
    "code": measure_code,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.words", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("packages", type=Path, nargs="*", help="files .deb for manpages, .tar.gz for code")
    parser.add_argument("--language", help="value of the setting `language` of the stores")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to record the value of each question in")
    parser.add_argument("--before", type=Path, metavar="FILE", help="earlier recording to compare with")
    options = parser.parse_args(argv)
    if options.part != "identifiers" and not options.packages:
        parser.error(f"{options.part} needs packages; benchmarks/README.md says how to get them")
    settings = (f"language={options.language}",) if options.language else ()
    results = PARTS[options.part](options.packages, settings)
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")
    before = json.loads(options.before.read_text(encoding="utf-8")) if options.before else {}
    if options.part == "identifiers":
        print("\n".join(failures(results)))
    if options.part != "identifiers" or before:
        print("\n".join(table(results, before)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
