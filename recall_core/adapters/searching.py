"""`recall search`, `query` and `context`: run a query and print the hits as lines, drawings, paths, JSON or CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from recall_core import adapters, rql
from recall_core._lazy import csv
from recall_core.adapters.flags import (
    ALL_WORDS,
    AS_ROWS,
    BY_MEANING,
    CHECKS,
    EXPLAIN,
    PASSAGE,
    QUESTION,
    RAW,
    RECEIPT,
    RQL,
    SET,
    TIMEOUT,
    VERBOSE,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    ask_of,
    check_question,
    given_rql,
    lists_paths,
    on_store,
    pack_of,
    read_rql,
    wants_json,
)
from recall_core.adapters.render import (
    DIGITS,
    INDENT,
    SNIPPET,
    clean,
    json_line,
    place,
    short,
    talk_of_context,
    talk_of_hits,
)
from recall_core.adapters.streams import encode_for, expect_new, for_data, write_new
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint
from recall_core.text import cite, harmless, one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from recall_core.adapters.flags import Request, RowsWriter
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.responses import ContextResponse, SearchResponse
    from recall_core.contract.views import ResultView


_Receipted = TypeVar("_Receipted", "SearchResponse", "ContextResponse")
Line = list[tuple[str, bool]]
"""The pieces of a line, each with True if it matches the query."""
_DIGESTS = ("doc.id", "doc.hash", "chunk.id", "chunk.doc_id")
_PLAIN = ("score", "doc.path", "chunk.text")  # shown without a name: the values are unambiguous
_ACCOUNT = Flag("--explain", "report the value, gaps and token use of the context")
_STATE = "yellow"
_RECALLED = "magenta"
_RECORD = re.compile(r"(.*?\.\w+)#.* line (\d+)", re.DOTALL)

_CHUNKS = (
    "score doc.path chunk.line_start chunk.line_end doc.title chunk.heading chunk.text chunk.offset chunk.id"
    " chunk.place".split()
)

_DOCUMENTS = "score doc.path doc.title doc.tags doc.source doc.mtime doc.id".split()
"""The CSV columns without a SELECT."""


def search(recall: Recall, request: Request, streams: Streams) -> SearchResponse:
    """Run `recall search`."""
    return _ask_for_answer(request, lambda: recall.search(" ".join(request.words), ask_of(request.flags)))


def query(recall: Recall, request: Request, streams: Streams) -> SearchResponse:
    """Run `recall query`."""
    rql = given_rql(request.flags.rql, request.words, "recall query")
    return _ask_for_answer(request, lambda: recall.query(read_rql(rql, streams.stdin), ask_of(request.flags)))


def context(recall: Recall, request: Request, streams: Streams) -> ContextResponse:
    """Run `recall context`."""
    flags = request.flags
    check_question(request)
    ask, pack = ask_of(flags), pack_of(flags)
    if pack.lean and not wants_json(request):
        raise UsageError("conflicting_flags", "--lean needs --json.", hint=Hint(AGAIN, json=True))
    if flags.rql is None:
        return _ask_for_answer(request, lambda: recall.context(" ".join(request.words), ask, pack))
    return _ask_for_answer(request, lambda: recall.context(None, ask, pack, rql=read_rql(flags.rql, streams.stdin)))


def _ask_for_answer(request: Request, ask: Callable[[], _Receipted]) -> _Receipted:
    """Return the answer and write its receipt to the --receipt file. Fail before the search if the file exists."""
    name, hint = request.flags.receipt, Hint(AGAIN, receipt="FILE")
    if name is None:
        return ask()
    if name == "-":
        raise UsageError("bad_value", "--receipt needs a file: the answer goes to stdout.", hint=hint)
    expect_new(Path(name), hint=hint)
    answer = ask()
    receipt = answer["receipt"]
    write_new(Path(name), receipt.pop("text"), hint=hint)
    receipt["path"] = name
    return answer


def packed_text(response: ContextResponse) -> Iterator[str]:
    """Yield the text of the context."""
    yield response["context"]["text"] + "\n"


def hit_lines(response: SearchResponse) -> Iterator[str]:
    """Yield each hit with its passage and ledger. The output does not depend on the terminal."""
    for result in response["results"]:
        yield one_line("  ".join(hit_header(result))) + "\n"
        for line in passage_lines(result):
            yield f"{' ' * INDENT}{harmless(''.join(text for text, _ in line))}".rstrip() + "\n"
        yield from (f"{one_line(line)}\n" for line in ledger_lines(result))


def has_passage(result: ResultView) -> bool:
    """Return True if the hit is shown with its passage, which needs the default SELECT."""
    return "passage" in result and is_whole(result)


def hit_header(result: ResultView) -> list[str]:
    """Return `0.843`, `docs/a.md:12`, `Heading`. A record has its title first, then `file:line`."""
    if not has_passage(result):
        return [hit_line(result)]
    score = [f"{result['score']:.3f}"] if "score" in result else []
    return [*score, *filter(None, [*passage_places(result), heading(result)]), *marks(result)]


def passage_places(result: ResultView) -> list[str]:
    """Return the place of the passage: `path:line`. For a record: title and `file:line`."""
    doc, passage = result.get("doc", {}), result["passage"]
    path, place = doc.get("path", ""), passage.get("place")
    state = f" ({doc['state']})" if "state" in doc else ""
    record = _RECORD.fullmatch(f"{path} {place or ''}")
    if record is None:
        return [clean(cite(path, passage["line_start"], place=place)) + state]
    return [clean(doc.get("title", "")), clean(f"{record[1]}:{record[2]}") + state]


def hit_line(result: ResultView) -> str:
    """Return a hit on one line: `0.843  docs/a.md:10-24  heading  start of the text`, or the SELECTed fields."""
    if not is_whole(result):
        chosen = [value if name in _PLAIN else f"{name}={value}" for name, value in fields(result).items()]
        return "  ".join([*chosen, *marks(result)])
    parts = [f"{result['score']:.3f}"] if "score" in result else []
    parts += [part for part in (place(result), heading(result), snippet(result)) if part]
    return "  ".join([*parts, *marks(result)])


def marks(result: ResultView) -> list[str]:
    """Return the notes of a hit.

    `by meaning 0.412`: a hybrid hit without a query word, and its cosine.
    `[recalled: distance 0.11]`: a hit added by sparse-document recall.
    `+5 identical`: copies with the same text.
    """
    notes = [f"by meaning {result['cosine']:.3f}"] if "cosine" in result else []
    notes += [f"[recalled: distance {result['recall']['distance']:g}]"] if "recall" in result else []
    return [*notes, f"+{result['copies']['count']} identical"] if "copies" in result else notes


def is_whole(result: ResultView) -> bool:
    """Return True without a SELECT. A result with SELECTed fields has no line numbers or not all document fields."""
    return (
        "line_end" in result.get("chunk", {})
        or {"id", "hash", "mtime", "tags", "title"} <= result.get("doc", {}).keys()
    )


def fields(result: ResultView) -> dict[str, str]:
    """Return the SELECTed fields by name. A text is shortened to its passage or its start."""
    values = {"score": f"{result['score']:.3f}"} if "score" in result else {}
    for table in ("doc", "chunk"):
        view = dict(cast(Mapping[str, Any], result.get(table, {})))
        if table == "chunk" and "passage" in result:
            view["text"] = result["passage"]["text"]
        meta = view.pop("meta", {})
        named = {f"{table}.{key}": value for key, value in view.items()}
        named |= {f"{table}.meta.{key}": value for key, value in meta.items()}
        values |= {name: _field_text(name, value) for name, value in named.items()}
    return values


def _field_text(name: str, value: Any) -> str:
    if name == "chunk.text":
        return short(value)
    if name in _DIGESTS:
        return str(value[:DIGITS])
    return clean(", ".join(value) if isinstance(value, list) else str(value))


def heading(result: ResultView) -> str:
    """Return the heading of the passage, else of the chunk, else ""."""
    unit = result.get("passage", result.get("chunk", {}))
    return clean(unit.get("heading", ""))


def snippet(result: ResultView, width: int = SNIPPET) -> str:
    """Return the start of the chunk on one line."""
    return short(result.get("chunk", {}).get("text", ""), width)


def ledger_lines(result: ResultView) -> Iterator[str]:
    """Yield the lines of --explain: the summary, the ledger, and sparse-document recall."""
    if summary := result.get("explain", {}).get("summary"):
        yield f"  {clean(summary)}"
    for part in result.get("explain", {}).get("parts", []):
        raw = "-" if part["raw"] is None else f"{part['raw']:.3f}"
        rank = "-" if part["rank"] is None else f"#{part['rank']}"
        yield (
            f"  {part['points']:+.3f}  {part['signal']:<9} value {part['value']:.3f}  "
            f"weight {part['weight']:g}  raw {raw}  rank {rank}"
        )
        if "leaves" in part:
            yield from adapters.ledger.leaf_lines(part)
    if "explain" in result and "recall" in result:
        displaced = result["recall"].get("displaced")
        where = "in a free row" if displaced is None else f"replaces {displaced[:DIGITS]}"
        yield f"  recalled: short document at distance {result['recall']['distance']:g}, {where}"


def put_in_brackets(response: SearchResponse) -> SearchResponse:
    """Return the answer with matches in [brackets]."""
    results: list[ResultView] = []
    for result in response["results"]:
        if "passage" in result:
            passage = result["passage"]
            pieces = _passage_pieces(passage["text"], passage)
            marked = "".join(f"[{text}]" if matches else text for text, matches in pieces)
            result = {**result, "passage": {**passage, "text": marked, "matches": []}}  # noqa: PLW2901
        results.append(result)
    return {**response, "results": results}


def passage_lines(result: ResultView) -> Iterator[Line]:
    """Yield the lines of the passage and its context, without their common indentation."""
    if not has_passage(result):
        return
    passage = result["passage"]
    chunk = result.get("chunk", {})
    above = chunk.get("text", "")[: passage["offset"] - chunk.get("offset", 0)].rpartition("\n")[2]
    before = passage.get("before", "" if above.strip() else above)
    pieces = [(before, False), *_passage_pieces(passage["text"], passage), (passage.get("after", ""), False)]
    lines: list[Line] = [[]]
    for text, matches in pieces:
        first, *others = text.split("\n")
        lines[-1].append((first, matches))
        lines += [[(other, matches)] for other in others]
    texts = ["".join(text for text, _ in line) for line in lines]
    blanks = [text[: len(text) - len(text.lstrip())] for text in texts if text.strip()]
    least = min(blanks, key=len, default="")
    shared = len(least) if all(each.startswith(least) for each in blanks) else 0
    yield from (_cut_line(line, shared) for line in lines)


def _passage_pieces(text: str, passage: PassageView) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, each with True if it matches. Overlapping matches are merged."""
    end = 0
    for first, last in _merge([(int(start), int(stop)) for start, stop, _ in passage["matches"]]):
        yield text[end : first - passage["offset"]], False
        end = last - passage["offset"]
        yield text[first - passage["offset"] : end], True
    yield text[end:], False


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _cut_line(line: Line, length: int) -> Line:
    """Remove the first `length` characters of the line."""
    left: Line = []
    for text, matches in line:
        left.append((text[length:].rstrip("\r"), matches))
        length = max(0, length - len(text))
    return left


def draw_hits(response: SearchResponse, console: Console, flags: Any) -> RenderableType | None:
    """Draw hits with their passages, or SELECTed fields as a table. Return None if there are no hits."""
    results = response["results"]
    if not results:
        return None
    if not all(map(is_whole, results)):
        return _draw_fields(results)
    return adapters.terminal.Group(*(part for result in results for part in _draw_hit(result)))


def _draw_hit(result: ResultView) -> Iterator[RenderableType]:
    """Yield the header of a hit, its passage with matches in bold, and its ledger."""
    yield _draw_header(result)
    for line in passage_lines(result) if has_passage(result) else [[(snippet(result, 160), False)]]:
        shown = adapters.terminal.Text.assemble(
            *((harmless(text), "bold" if matches else "") for text, matches in line)
        )
        yield adapters.terminal.Padding(shown, (0, 0, 0, INDENT))
    for entry in ledger_lines(result):  # split in two, so that a terminal does not wrap inside a number
        points, value, figures = entry.partition(" value ") if entry[2:3].strip() else (entry, "", "")
        drawn = f"{points.rstrip()}\n    value {figures}" if value else entry
        yield adapters.terminal.Text(drawn, style="dim")


def _draw_header(result: ResultView) -> Text:
    *title, where = passage_places(result) if has_passage(result) else [place(result)]
    score = [(f"{result['score']:.3f}", "bold")] if "score" in result else []
    place_style = _STATE if "state" in result.get("doc", {}) else "cyan"
    parts = [*score, *((each, "bold") for each in title), (where, place_style)]
    parts += [(heading(result), ""), *((mark, _RECALLED) for mark in marks(result))]
    shown = [part for part in parts if part[0]]
    return adapters.terminal.Text("  ").join(adapters.terminal.Text(text, style) for text, style in shown)


def _draw_fields(results: list[ResultView]) -> Table:
    rows = [fields(result) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = adapters.terminal.new_table()
    for name in names:
        is_number = name in ("score", "chunk.offset", "chunk.tokens")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    all_marks = [marks(result) for result in results]
    if any(all_marks):
        table.add_column("", style=_RECALLED)
    for row, mark in zip(rows, all_marks, strict=True):
        table.add_row(
            *(adapters.terminal.Text(row.get(name, "")) for name in names), *map(adapters.terminal.Text, mark)
        )
    return table


def choose_rows(request: Request) -> RowsWriter | None:
    """Return the row writer for -l, -q, --jsonl or --csv, or None. Raises UsageError `conflicting_flags`."""
    forms = [name for name in _FORMS if getattr(request.flags, name, False)]
    if getattr(request.flags, "by_meaning", False) and not lists_paths(request.flags):
        hint = "add -l, or leave out --by-meaning"
        raise UsageError("conflicting_flags", "--by-meaning needs -l or -q.", hint=hint)
    if not forms:
        return None
    if forms == ["paths", "quiet"]:
        forms = ["quiet"]
    others = [name for name in ("json", "explain") if getattr(request.flags, name, False)]
    conflict = [*forms, *(name for name in others if not (name == "explain" and forms == ["jsonl"]))]
    if len(conflict) > 1:
        message = f"--{conflict[0]} and --{conflict[1]} cannot be combined."
        raise UsageError("conflicting_flags", message, hint=f"leave out --{conflict[1]}")
    return _FORMS[forms[0]]


def exit_by_list(response: SearchResponse, flags: Any) -> int:
    """Return 7 if -l or -q found no document, else 0."""
    return 7 if lists_paths(flags) and not response["results"] else 0


def _write_paths(response: SearchResponse, stdout: TextIO) -> None:
    """Write each path once, in the order of its best row."""
    if any("path" not in result.get("doc", {}) for result in response["results"]):
        message = "--paths needs doc.path in SELECT."
        raise UsageError("conflicting_flags", message, hint="SELECT doc.path, or leave out --paths")
    for path in dict.fromkeys(result["doc"]["path"] for result in response["results"]):
        stdout.write(encode_for(f"{one_line(path)}\n", stdout))


def _write_csv(response: SearchResponse, stdout: TextIO) -> None:
    """Write a header and one row per hit. Texts keep their line breaks, in quotes."""
    names = _columns(response)
    for row in (names, *([_cell(result, name) for name in names] for result in response["results"])):
        line = StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        stdout.write(encode_for(line.getvalue(), stdout))


def _columns(response: SearchResponse) -> list[str]:
    """Return the SELECTed fields, else the default columns."""
    text = response["query"].get("rql")
    if text is None:
        return _CHUNKS

    query, _ = rql.parser.parse_query(text)
    if query.select is not None:
        return list(rql.fields.select_names(query))
    names = _CHUNKS if query.table == "chunk" else _DOCUMENTS
    return names if query.using else names[1:]


def _cell(result: ResultView, name: str) -> str:
    value: Any = result
    table, _, rest = name.partition(".")
    field, _, of_meta = rest.partition(".")  # a meta key may contain dots
    for key in filter(None, (table, field, of_meta)):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


_FORMS: dict[str, RowsWriter] = {
    "paths": _write_paths,
    "quiet": lambda response, stdout: None,
    "jsonl": lambda response, stdout: for_data(stdout).writelines(map(json_line, response["results"])),
    "csv": _write_csv,
}

COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "search",
        "Search for chunks (parts of documents), best first.",
        run=on_store(search),
        prints=hit_lines,
        operand=Operand("WORDS", WORDS, most=None),
        flags=(K, *PASSAGE, *QUESTION, RECEIPT, *AS_ROWS, BY_MEANING, VERBOSE),
        examples=(
            'recall search "zero-downtime deploy" -n 5',
            "recall search retries --filter \"doc.tag = 'docs'\" --explain",
            "recall search '\"exact phrase\" other words' --bm25 --json",
            "recall search retries -l | xargs ls -l",
            "recall search retries -q && echo known",
        ),
        draws=draw_hits,
        talks=talk_of_hits,
        exit_code=exit_by_list,
        in_rows=choose_rows,
    ),
    Command(
        "query",
        "Run a query in RQL, the query language.",
        run=on_store(query),
        prints=hit_lines,
        operand=Operand("RQL", "the query: text, @FILE, or - for stdin; or use --rql", least=0, most=None),
        flags=(RQL, *PASSAGE, ALL_WORDS, EXPLAIN, SET, *CHECKS, TIMEOUT, RECEIPT, *AS_ROWS, BY_MEANING, VERBOSE),
        examples=(
            "recall query \"SELECT doc.path, score FROM chunk USING lexical('retry') LIMIT 5\"",
            "recall query --rql @nightly.rql --json",
            "echo \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\" | recall query -",
        ),
        draws=draw_hits,
        talks=talk_of_hits,
        exit_code=exit_by_list,
        in_rows=choose_rows,
    ),
    Command(
        "context",
        "Pack the best chunks and their sources into a text within a token budget.",
        run=on_store(context),
        prints=packed_text,
        operand=Operand("WORDS", WORDS + "; or use --rql", least=0, most=None),
        flags=(
            RQL,
            Flag("--budget-tokens", "token budget of the whole text", "N", least=1),
            Flag("--k", "pack at most the best N chunks (default: all)", "N", least=0, short="-n"),
            Flag("--diversity", "at most N chunks per document (0: no limit)", "N", least=0),
            Flag(
                "--counter",
                "token counter: approx-2 (default), approx:modern, whitespace, approx or hf:FILE",
                "NAME",
            ),
            Flag(
                "--format",
                "output format (default plain)",
                "FORMAT",
                choices=("plain", "markdown", "xml", "json"),
            ),
            Flag("--numbers", "start every line with its line number"),
            Flag("--lean", "JSON: leave out the texts of chunks and blocks; the context contains them"),
            Flag(
                "--pack", "pack in rank order, or for the highest total value", "POLICY", choices=("rank", "optimal")
            ),
            Flag("--pin", "pack this chunk first", "ID", many=True),
            Flag("--drop", "leave this chunk out", "ID", many=True),
            RAW,
            *(_ACCOUNT if flag is EXPLAIN else flag for flag in QUESTION),
            RECEIPT,
            VERBOSE,
        ),
        examples=(
            'recall context "how we handle retries" --budget-tokens 1200 --diversity 2',
            "recall context retries --format markdown > context.md",
            "recall context --rql \"SELECT * FROM chunk USING lexical('retry')\" --json",
        ),
        is_text=True,
        talks=talk_of_context,
    ),
)
