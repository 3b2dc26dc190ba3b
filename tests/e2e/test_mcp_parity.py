"""The answer of an agent tool equals `recall --json`, and its text agrees with that object."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from benchmarks.parity import FILTERS, SETTINGS
from benchmarks.serving import Client
from benchmarks.speed.asked import KINDS, Asker
from recall_core.adapters import cli
from recall_core.adapters.mcp.tools import BY_NAME, Limits
from recall_core.adapters.render import clean
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import RecallError
from recall_core.types import Root
from tests.parity_stores import filled

IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
TOOLS = ("search", "context", "explain", "whynot", "get")
WHOLE = Limits(max_answer_chars=10**9)
_MODES = {"hybrid": (), "lexical": ("--bm25",), "semantic": ("--vector",)}
_NOTES = {
    "notes/a *bold* — plan.md": "# Plan · first\n\n## Retries **of** `all`\n\nRetries wait.\n\n> quoted: 7\n",
    "notes/long.md": "# Long\n\n" + "wombat " * 300 + "\n",
    "notes/rows.csv": "name,count\nquokka,3\nwombat,12\n",
}


class Question(NamedTuple):
    """A tool call, and the equivalent command line."""

    tool: str
    arguments: dict[str, Any]
    argv: list[str]


class Home(NamedTuple):
    """A store in a folder, and the data for drawing queries."""

    folder: Path
    pieces: list[str]
    chunks: list[str]
    paths: list[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("parity")
    return _home(folder, 160)


def _home(folder: Path, chunks: int) -> Home:
    pieces = filled(folder, "hash", chunks)
    for name, text in _NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "notes")], Root("")):
            pass
        ids = recall.query(f"SELECT chunk.id, doc.path FROM chunk LIMIT {chunks + 50}")["results"]
    paths = sorted({each["doc"]["path"] for each in ids})
    return Home(folder, pieces, sorted(each["chunk"]["id"] for each in ids), paths)


def questions(home: Home, count: int, *, tools: Sequence[str] = TOOLS, seed: int = 1) -> list[Question]:
    """Return `count` calls of every tool by turns, the same for the same seed."""
    random, asker = Random(f"mcp {seed}"), Asker(home.pieces, seed=seed)
    return [_MAKERS[tools[number % len(tools)]](random, asker, home) for number in range(count)]


def _search(random: Random, asker: Asker, home: Home) -> Question:
    if random.random() < 0.25:
        rql = _rql(random, asker)
        settings, flags = _settings(random)
        return Question("search", {"rql": rql, **settings}, ["query", rql, *flags])
    arguments, argv = _query_or_words(random, asker, home)
    return Question("search", arguments, ["search", *argv])


def _context(random: Random, asker: Asker, home: Home) -> Question:
    arguments, argv = _asked_anyhow(random, asker, home)
    budget = random.choice((150, 600, 4_000))
    return Question(
        "context", {**arguments, "budgetTokens": budget}, ["context", *argv, "--budget-tokens", f"{budget}"]
    )


def _explain(random: Random, asker: Asker, home: Home) -> Question:
    arguments, argv = _asked_anyhow(random, asker, home)
    target, versus = random.sample(home.chunks, 2)
    arguments["target"] = target
    argv += ["--chunk", target]
    if random.random() < 0.3:
        arguments["versus"] = versus
        argv += ["--vs", versus]
    return Question("explain", arguments, ["explain", *argv])


def _whynot(random: Random, asker: Asker, home: Home) -> Question:
    arguments, argv = _asked_anyhow(random, asker, home)
    target = random.choice(
        (random.choice(home.paths), random.choice(home.chunks), '"retries wait"', '"no such text"')
    )
    return Question("whynot", {**arguments, "target": target}, ["whynot", *argv, "--target", target])


def _get(random: Random, asker: Asker, home: Home) -> Question:
    line = random.randint(1, 60)
    path = random.choice(home.paths)
    target = random.choice((path, f"{path}:{line}", f"{path}:{line}-{line + 9}", random.choice(home.chunks)))
    return Question("get", {"targets": [target]}, ["get", target])


_MAKERS: Mapping[str, Callable[[Random, Asker, Home], Question]] = {
    "search": _search, "context": _context, "explain": _explain, "whynot": _whynot, "get": _get,
}  # fmt: skip


def _asked_anyhow(random: Random, asker: Asker, home: Home) -> tuple[dict[str, Any], list[str]]:
    """Return words, or sometimes a query in RQL."""
    if random.random() < 0.15:
        rql = _rql(random, asker, fields="*")
        settings, flags = _settings(random)
        return {"rql": rql, **settings}, ["--rql", rql, *flags]
    return _query_or_words(random, asker, home)


def _query_or_words(random: Random, asker: Asker, home: Home) -> tuple[dict[str, Any], list[str]]:
    words = asker.draw(random.choice(KINDS), 1)[0].text if random.random() < 0.8 else "retries wombat quokka"
    arguments: dict[str, Any] = {"query": words}
    argv = [words]
    mode = random.choice(tuple(_MODES))
    if mode != "hybrid" or random.random() < 0.3:
        arguments["mode"] = mode
        argv += _MODES[mode]
    if random.random() < 0.7:
        arguments["k"] = random.choice((1, 5, 10, 40))
        argv += ["--k", str(arguments["k"])]
    if random.random() < 0.3:
        arguments["filter"] = random.choice((*FILTERS, "doc.path GLOB 'notes/*'"))
        argv += ["--filter", arguments["filter"]]
    settings, flags = _settings(random)
    return {**arguments, **settings}, [*argv, *flags]


def _settings(random: Random) -> tuple[dict[str, Any], list[str]]:
    """Return settings as an agent's client spells them, and as a user types them."""
    names = random.sample(tuple(SETTINGS), random.choice((0, 0, 0, 1, 2)))
    typed = {name: random.choice(SETTINGS[name]) for name in names}
    flags = [word for name, value in typed.items() for word in ("--set", f"{name}={value}")]
    return ({"set": {name: _meant(value) for name, value in typed.items()}} if typed else {}), flags


def _meant(value: str) -> str | bool | int | float:
    if value in ("true", "false"):
        return value == "true"
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value


def _rql(random: Random, asker: Asker, fields: str | None = None) -> str:
    text = f"'{asker.draw(random.choice(('1 words', '3 words', '5 words')), 1)[0].text}'"
    using = random.choice((f"lexical({text})", f"semantic({text})", f"lexical({text}), semantic({text})"))
    table = "chunk" if fields else random.choice(("chunk", "doc"))
    some = ("*", "doc.path, score", "doc.title") if table == "doc" else ("*", "doc.path, chunk.text, score", "score")
    where = f" FILTER {FILTERS[0]}" if random.random() < 0.3 else ""
    return f"SELECT {fields or random.choice(some)} FROM {table} USING {using}{where} LIMIT {random.choice((3, 10))}"


def run_command(home: Home, argv: Sequence[str], *, as_json: bool = True) -> str:
    """Return the output of the command, run in this process."""
    out = io.StringIO()
    cli.main([*argv, *(["--json"] if as_json else [])], streams=Streams(io.StringIO(), out, io.StringIO()))
    return out.getvalue()


def call_tool(recall: Recall, question: Question, limits: Limits = WHOLE, **fields: str) -> tuple[str, Any]:
    """Return the text of a tool and its object; an error as the command line prints it."""
    try:
        answer = BY_NAME[question.tool].answer(recall, {**question.arguments, **fields}, limits)
    except RecallError as error:
        return "", {"error": {"code": error.code, "message": error.message}}
    return answer.text, answer.content


def lasting(value: Any) -> Any:
    """Return the value without clock-dependent fields; for an error, the fields common to both sides."""
    if isinstance(value, dict) and "error" in value:
        return {key: value["error"][key] for key in ("code", "message")}
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key not in ("took_ms", "timings")}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def to_json(value: Any) -> str:
    """Return the value as JSON, including the order of keys."""
    return json.dumps(lasting(value), ensure_ascii=False)


# The expected content of a compact text, derived from the object piece by piece.


def complaints(question: Question, text: str, answer: Any, plain: str = "") -> list[str]:
    """Return the differences between a compact text and its object. plain: text output of the command."""
    cautions = [f"Warning: {each}" for each in answer["warnings"] if each.startswith("W_NO_MATCH")]
    expected = [*cautions, *_EXPECTED[question.tool](answer, plain), *_warnings(answer)]
    said = text.split("\n")
    found = []
    for place, (one, other) in enumerate(zip_longest(said, "\n".join(expected).split("\n"))):
        if one != other:
            found.append(f"line {place + 1}: {one!r}, not {other!r}")
    return found + [f"{number} is nowhere in the object" for number in _unsaid(text, answer)]


def _warnings(answer: Any) -> Iterator[str]:
    told = [f"Warning: {clean(each)}" for each in answer["warnings"] if not each.startswith("W_NO_MATCH")]
    if told:
        yield "\n" + "\n".join(told)


def _of_search(answer: Any, plain: str) -> Iterator[str]:
    results, stats = answer["results"], answer["stats"]
    left = stats.get("total_hits", len(results)) - len(results)
    more = f"; {left} more with a larger k" if left > 0 else ""
    yield f"{len(results)} hit{'s' * (len(results) != 1)}{more}. Digest {stats['digest'][:12]}."
    first = answer["query"].get("offset", 0) + 1
    for rank, result in enumerate(results, start=first):
        doc, chunk, passage = result.get("doc", {}), result.get("chunk", {}), result.get("passage")
        if "path" not in doc or not (passage or "text" in chunk):
            yield f"{rank}. {json.dumps(result, ensure_ascii=False, separators=(',', ':'))}"
            continue
        quoted, lines = _excerpt(chunk, passage)
        unit = passage or chunk
        about = [f"{rank}. **{_citation(doc['path'], lines, unit)}**"]
        if "heading" in unit:
            about.append(_reversible(unit["heading"]))
        if "score" in result:
            about.append(f"score {result['score']:.3f}")
        if "cosine" in result:
            about.append(f"by meaning {result['cosine']:.3f}")
        if "id" in chunk:
            about.append(f"chunk {chunk['id'][:12]}")
        yield "\n" + " · ".join(about)
        yield _fence(quoted)


def _reversible(name: str) -> str:
    """Return the name with a backslash before anything that looks like a part of the answer."""
    return name.replace("**", r"\*\*").replace("`", r"\`").replace(" · ", r" \· ")


def _fence(text: str) -> str:
    return f"```\n{text.removesuffix(chr(10))}\n```"


def _excerpt(chunk: Any, passage: Any) -> tuple[str, Any]:
    """Return the quoted text and its lines; a passage under 40 characters gets the lines below it, up to 240."""
    if passage is None:
        text = chunk["text"]
        return text if len(text) <= 480 else text[:478].rstrip() + " …", chunk
    text = passage["text"]
    if not {"offset", "text"} <= chunk.keys():
        return text, passage
    for line in re.findall(r"\n?[^\n]*", chunk["text"][passage["end"] - chunk["offset"] :]):
        if not line or len(text) >= 40 or len(text + line) > 240:
            break
        text += line
    text = text.rstrip()
    return text, {"line_start": passage["line_start"], "line_end": passage["line_start"] + text.count("\n")}


def _citation(path: str, lines: Any, chunk: Any) -> str:
    if "line_start" not in lines:
        return path
    kind, _, value = chunk.get("place", "").partition(" ")
    if value and not (kind == "line" and "#" in path):
        return f"{path}:{value}" if kind == "line" else f"{path}#{kind}={value}"
    last = f"-{lines['line_end']}" if lines["line_end"] > lines["line_start"] else ""
    return f"{path}:{lines['line_start']}{last}"


def _of_context(answer: Any, plain: str) -> Iterator[str]:
    view = answer["context"]
    count = len(view["blocks"])
    yield (
        f"{count} block{'s' * (count != 1)}, {view['used_tokens']} of {view['budget_tokens']} tokens "
        f"({view['counter']}). Digest {answer['stats']['digest'][:12]}."
    )
    for block in view["blocks"]:
        where = clean(_citation(block["path"], block, block))
        yield f"\n[{block['n']}] {where}{' (cut)' if block.get('truncated') else ''}\n{_fence(block['text'])}"


def _of_explain(answer: Any, plain: str) -> Iterator[str]:
    """Yield the text output, with passages between fences instead of indented."""
    view = answer["explanation"]
    lines = plain.removesuffix("\n").split("\n")
    for part in (view["chunk"], *([view["other"]] if "other" in view else [])):
        heading = part.get("heading", "")
        lines = [line.replace(heading, _reversible(heading)) if part["id"][:12] in line else line for line in lines]
        if "passage" in part:
            passage = part["passage"]["text"]
            at = next(
                place for place, line in enumerate(lines) if part["id"][:12] in line and "```" not in lines[place + 1]
            )
            lines[at + 1 : at + 2 + passage.count("\n")] = _fence(passage).split("\n")
    yield "\n".join(lines)


def _of_whynot(answer: Any, plain: str) -> Iterator[str]:
    """Yield the text output without commands; a fix is its change and its settings."""
    fixes = iter(answer["whynot"].get("fixes", []))
    lines = [line for line in plain.removesuffix("\n").split("\n") if not line.startswith("more  --all")]
    shown = iter(lines)
    for line in shown:
        if line.startswith("fix   ") and answer["whynot"].get("fixes"):
            settings = next(fixes)["settings"]
            change = next(shown).strip()
            yield f"fix   {change}" + (f" (set {', '.join(settings)})" if settings else "")
        else:
            yield line


def _of_get(answer: Any, plain: str) -> Iterator[str]:
    view = answer["found"]
    chunk, path = view.get("chunk"), view["doc"]["path"]
    if chunk is not None:
        lines = {"line_start": chunk["line_start"], "line_end": chunk["line_end"]}
        where = _citation(path, lines, chunk)
    elif "line_start" in view:
        where = _citation(path, view, view)
    else:
        where = path
    yield f"**{where}**"
    if view["text"]:
        yield _fence(view["text"])


_EXPECTED: Mapping[str, Callable[[Any, str], Iterator[str]]] = {
    "search": _of_search, "context": _of_context, "explain": _of_explain, "whynot": _of_whynot, "get": _of_get,
}  # fmt: skip

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")


def _unsaid(text: str, answer: Any) -> list[str]:
    """Return the numbers of a text that the object contains neither as rounded numbers nor in its texts."""
    texts, numbers = [], []
    for value in _values(answer):
        (texts if isinstance(value, str) else numbers).append(value)
    words = "\n".join(texts)
    spelled = {each for number in numbers for each in _spellings(number)}
    found = {each.lstrip("+-") for each in _NUMBER.findall(text)}
    return sorted(each for each in found if each not in spelled and each not in words)


def _spellings(number: float) -> Iterator[str]:
    size = abs(number)
    yield from (f"{size:g}", f"{size:.0f}", f"{size:.1e}", f"{size:.3f}", f"{size:.4f}", f"{size:.6f}")
    yield str(size)


def _values(value: Any) -> Iterator[Any]:
    """Yield every text and number, the length of each list and the sum of each column."""
    if isinstance(value, dict):
        yield from value
        yield from (each for inner in value.values() for each in _values(inner))
        if value.keys() >= {"title", "body"} and not isinstance(value["title"], str):
            yield value["title"] + value["body"]
        if "differences" in value:
            yield sum(each["delta"] for each in value["differences"])
        if "results" in value:
            yield value["stats"].get("total_hits", 0) - len(value["results"])
    elif isinstance(value, list):
        yield len(value)
        yield from (each for inner in value for each in _values(inner))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def differences(home: Home, recall: Recall, question: Question) -> list[str]:
    """Return the differences between the answer of the tool and that of the command line."""
    text, whole = call_tool(recall, question, fields="all")
    asked = json.loads(run_command(home, question.argv))
    found = [] if to_json(whole) == to_json(asked) else [f"{question}: {to_json(whole)} / {to_json(asked)}"]
    if "error" in whole:
        return found
    found += [] if to_json(json.loads(text)) == to_json(whole) else [f"{question}: the text is another object"]
    compact, own = call_tool(recall, question)
    if question.tool == "context":  # its budget counts the fences of the text
        whole = own
    has_lines = question.tool in ("explain", "whynot")
    plain = run_command(home, question.argv, as_json=False) if has_lines else ""
    return found + [f"{question}: {each}" for each in complaints(question, compact, whole, plain)]


def test_agent_answer_equals_command_json_and_its_text_agrees(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.folder)
    with Recall.open(str(home.folder)) as recall:
        found = [
            each
            for question in questions(home, 40 if IS_NIGHTLY else 20)
            for each in differences(home, recall, question)
        ]
    assert found == []


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("tool", TOOLS)
def test_five_hundred_calls_of_each_tool_agree(home: Home, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.folder)
    with Recall.open(str(home.folder)) as recall:
        asked = questions(home, 500, tools=(tool,), seed=2)
        found = [each for question in asked for each in differences(home, recall, question)]
    assert found == []


@pytest.mark.slow  # in CI test_mcp_stdio.py compares both forms of an answer
def test_stdio_answers_are_the_same(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.folder)
    asked = questions(home, 10, seed=3)

    with Client(home.folder) as client, Recall.open(str(home.folder)) as recall:
        for question in asked:
            whole = json.loads(client.call(question.tool, **question.arguments, fields="all"))
            if "code" in whole:
                whole = {"error": whole}
            assert to_json(whole) == to_json(json.loads(run_command(home, question.argv)))
            if "error" not in whole:
                assert client.call(question.tool, **question.arguments) == call_tool(recall, question, Limits())[0]


def _changes(text: str, random: Random) -> Iterator[tuple[str, str]]:
    """Yield the text with one change, and a description of the change."""
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    for place in random.sample(digits, min(25, len(digits))):
        yield f"digit {place}", text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    lines = text.split("\n")
    for number in random.sample(range(len(lines)), min(5, len(lines))):
        yield f"without line {number}", "\n".join(lines[:number] + lines[number + 1 :])
    if (path := re.search(r"(?:docs|notes)/[^\n:*]+", text)) is not None:
        yield "another path", text.replace(path[0], path[0][:-1] + "x", 1)
    hits = re.split(r"\n(?=\n\d+\. |\n\[\d+\])", text)
    if len(hits) > 2:
        yield "without a hit", "\n".join(hits[:1] + hits[2:])
        yield "two hits in turn", "\n".join([hits[0], hits[2], hits[1], *hits[3:]])


@pytest.mark.parametrize("tool", TOOLS)
def test_text_changed_in_one_place_is_caught(home: Home, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.folder)
    tried = 0
    with Recall.open(str(home.folder)) as recall:
        for question in questions(home, 3, tools=(tool,), seed=4):
            text, answer = call_tool(recall, question)
            if "error" in answer:
                continue
            plain = run_command(home, question.argv, as_json=False)
            for what, changed in _changes(text, Random(tried)):
                tried += 1
                assert complaints(question, changed, answer, plain), what
    assert tried > 10


def test_truncated_text_names_what_it_omits(home: Home) -> None:
    with Recall.open(str(home.folder)) as recall:
        for question in questions(home, 12, tools=("search", "context"), seed=5):
            whole, answer = call_tool(recall, question)
            text, _ = call_tool(recall, question, Limits(max_answer_chars=400))
            if "error" in answer or text == whole:
                continue
            *kept, last = text.split("\n")
            assert last.startswith("[left out for length: ")
            assert whole.startswith("\n".join(kept).removesuffix("\n```"))
            assert kept.count("```") % 2 == 0
            name = "block" if question.tool == "context" else "hit"
            assert re.search(rf"{name} \d|\d more|warnings", last)
            assert len(text) <= 400
