"""Commands that read the store (get, ls), compare receipts (replay) and help with queries (rql)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING, Any

from recall_core import adapters, api, rql, views
from recall_core.adapters.flags import (
    RAW,
    RQL,
    SET,
    TIMEOUT,
    Command,
    Flag,
    Operand,
    given_rql,
    in_lines,
    on_store,
    read_rql,
)
from recall_core.adapters.render import DIGITS, clean, count_of, weight_of
from recall_core.adapters.streams import replacing
from recall_core.errors import NO_STORE, StoreError, UsageError
from recall_core.shell import Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.explaining import ReplayChangeView
    from recall_core.contract.responses import (
        CompletionResponse,
        ExplainedResponse,
        GetResponse,
        ListResponse,
        ReplayResponse,
        RqlResponse,
    )
    from recall_core.contract.store import ListedView
    from recall_core.rql.views import FilterView

_AT_ONCE = 1_000  # lines written at once
_MOST_DRAWN = 1_000  # documents drawn as a table
_BETWEEN, _EDGES, _LEAST_TITLE = 3, 2, 12  # columns of a terminal
_TO_THE_MINUTE = 16  # characters of a time
_HASH = 64  # hexadecimal digits


def get(recall: Recall, request: Request, streams: Streams) -> GetResponse:
    """Return the text of a target."""
    return recall.get(request.words[0])


def text(response: GetResponse) -> Iterator[str]:
    """Yield the text unchanged."""
    yield response["found"]["text"]


def ls(recall: Recall, request: Request, streams: Streams) -> ListResponse:
    """Return the documents whose paths match."""
    flags, prefix = request.flags, "".join(request.words)
    answer = recall.list(prefix, glob=flags.glob, limit=flags.k, offset=flags.offset or 0)
    if not answer["total"] and not request.json:
        conditions = [f"starts with {prefix}"] if prefix else []
        conditions += [f"matches {flags.glob}"] if flags.glob is not None else []
        none_match = f"no document path {' and '.join(conditions)}"
        scope = recall.engine.scope
        start = Hint("add", "DIR") if scope is None else f"write {scope.agent.workspace}/MEMORY.md"
        streams.say(none_match if conditions else f"the store is empty; next: {start}")
    return answer


def path_lines(response: ListResponse) -> Iterator[str]:
    """Yield one path per line."""
    return _join_in_pieces(one_line(view["path"]) for view in response["documents"])


def long_rows(response: ListResponse) -> Iterator[str]:
    """Yield one document per line: chunks, tokens and modification time in columns, then path, title and source."""

    def row(view: ListedView) -> str:
        chunks, tokens, changed, source = figures(view)
        cells = (f"{chunks:>6}", f"{tokens:>8}", changed, *map(one_line, (view["path"], view["title"], source)))
        return "  ".join(filter(None, cells))

    return _join_in_pieces(map(row, response["documents"]))


def figures(view: ListedView) -> tuple[str, str, str, str]:
    """Return chunks, tokens, modification time and source."""
    changed = f"{view['mtime'][:19]}Z".replace("T", " ")
    return str(view["chunks"]), str(view["tokens"]), changed, view.get("source", "")


def talk_of_documents(response: ListResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the number of documents and the offset of the next page."""
    shown, total = len(response["documents"]), response["total"]
    if total:
        amount = count_of(total, "document") if shown == total else f"{shown} of {count_of(total, 'document')}"
        more = f", next page: --offset {response['next_offset']}" if "next_offset" in response else ""
        yield f"{amount} in {response['stats']['took_ms']:.0f} ms{more}"


def _join_in_pieces(lines: Iterator[str]) -> Iterator[str]:
    """Join the lines into larger pieces."""
    while some := list(islice(lines, _AT_ONCE)):
        yield "\n".join(some) + "\n"


def draw_documents(response: ListResponse, console: Console, flags: Any) -> Table | None:
    """Draw the documents as a table. Return None if there are none or too many for Rich.

    With --long each row is one line: titles are shortened or left out. Only a long path wraps.
    """
    documents = response["documents"]
    if not documents or len(documents) > _MOST_DRAWN:
        return None
    table = adapters.terminal.new_table()
    table.add_column("path", style="cyan", overflow="fold")
    names: tuple[str, ...] = ("chunks", "tokens", "changed (UTC)", "source") if flags.long else ()
    names = names if any("source" in view for view in documents) else names[:3]
    rows = [[adapters.terminal.cell(view["path"]), adapters.terminal.cell(view["title"])] for view in documents]
    if flags.long:
        for row, view in zip(rows, documents, strict=True):
            chunks, tokens, changed, source = figures(view)
            row.extend(map(adapters.terminal.cell, (chunks, tokens, changed[:_TO_THE_MINUTE], source)))
        widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
        taken = widths[0] + sum(max(len(name), own) for name, own in zip(names, widths[2:], strict=False))
        room = console.width - taken - _BETWEEN * (len(names) + 1) - _EDGES
        if room >= _LEAST_TITLE:
            table.add_column("title", no_wrap=True, overflow="ellipsis", max_width=room)
        else:
            rows = [[path, *figures] for path, _, *figures in rows]
    else:
        table.add_column("title", overflow="fold")
    for name in names:
        is_number = name in ("chunks", "tokens")
        no_wrap = name != "source"
        table.add_column(name, justify="right" if is_number else "left", no_wrap=no_wrap, overflow="fold")
    for row in rows:
        table.add_row(*row[: len(table.columns)])
    return table


def replay(recall: Recall, request: Request, streams: Streams) -> ReplayResponse:
    """Run `recall replay FILE`."""
    return recall.replay(Path(request.words[0]))


def replay_lines(response: ReplayResponse) -> Iterator[str]:
    """Yield whether the answer is identical, then one line per change."""
    view = response["replay"]
    verdict = "identical" if view["identical"] else "changed"
    yield f"{verdict}  {count_of(view['rows'], 'row')}  sha256 {view['sha256']}"
    yield from (f"{change['kind']:<10}{_change_text(change)}" for change in view["changes"])


def _change_text(change: ReplayChangeView) -> str:
    """Return a change on one line. Escapes the names: they come from an untrusted file."""
    names = (change.get("what", ""), change.get("key", ""), change.get("path", ""), _short_hash(change.get("id", "")))
    subject = one_line("  ".join(filter(None, (*names, ", ".join(change.get("fields", []))))))
    if "before" not in change or "after" not in change:
        return subject
    return f"{subject}  {_value_text(change['before'])} -> {_value_text(change['after'])}".strip()


def _value_text(value: str | float | bool | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return one_line(_short_hash(value)) or '""' if isinstance(value, str) else repr(value)


def _short_hash(text: str) -> str:
    """Return an id or a hash shortened for display. Return any other text unchanged."""
    return text[:DIGITS] if len(text) == _HASH and set(text) <= set(hexdigits) else text


def check_query(request: Request, streams: Streams, opener: Opener) -> RqlResponse:
    """Check a query. Needs no store."""
    text, _ = _query_of(request, streams)
    return api.recall.Recall.check_rql(text, tuple(request.flags.set or ()))


def format_query(request: Request, streams: Streams, opener: Opener) -> RqlResponse:
    """Format a query. With --write, rewrite its file if the text changes. Needs no store."""
    text, source = _query_of(request, streams)
    response = api.recall.Recall.format_rql(text)
    if not request.flags.write:
        return response
    if not source.startswith("@"):
        message = "--write needs a file."
        raise UsageError("missing_argument", message, hint="recall rql format --write @FILE")
    path = Path(source[1:])
    formatted = response["rql"]["text"] + "\n"
    response["rql"] |= {"path": str(path), "changed": formatted != text}
    if formatted != text:
        with replacing(path, hint=Hint("rql format", "@FILE")) as out:
            out.write(formatted)
    return response


def explain_query(request: Request, streams: Streams, opener: Opener) -> ExplainedResponse:
    """Explain what a query does in a store."""
    text, _ = _query_of(request, streams)
    with opener(request.store) as recall:
        return recall.explain_rql(text, api.recall.Ask(settings=tuple(request.flags.set or ())))


def complete_query(request: Request, streams: Streams, opener: Opener) -> CompletionResponse:
    """Complete a query at the cursor, with values from the store if there is one."""
    text, _ = _query_of(request, streams)
    cursor = len(text) if request.flags.cursor is None else request.flags.cursor
    try:
        store = opener(request.store)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise
        return views.completion(text, cursor, rql.complete.NoVocabulary())
    with store as recall:
        return recall.complete_rql(text, cursor)


def _query_of(request: Request, streams: Streams) -> tuple[str, str]:
    """Return the query text and its source. Raises UsageError, also for a flag of another action."""
    action, *words = request.words
    flags = request.flags
    for name, is_given, actions in (
        ("--write", flags.write, ("format",)),
        ("--cursor", flags.cursor is not None, ("complete",)),
        ("--set", bool(flags.set), ("check", "explain")),
    ):
        if is_given and action not in actions:
            message = f"{name} cannot be used with recall rql {action}."
            raise UsageError("conflicting_flags", message, hint=f"recall rql {actions[0]} {name}")
    source = given_rql(flags.rql, words, f"recall rql {action}")
    return read_rql(source, streams.stdin), source


def query_lines(response: RqlResponse) -> Iterator[str]:
    """Yield the formatted query, or with --write whether its file changed."""
    view = response["rql"]
    if "path" in view:
        yield one_line(f"{'formatted' if view.get('changed') else 'unchanged'}  {view['path']}") + "\n"
    else:
        yield view["text"] + "\n"


def candidate_lines(response: CompletionResponse) -> Iterator[str]:
    """Yield the completions at the cursor."""
    for candidate in response["candidates"]:
        yield one_line(f"{candidate['text']}  {candidate['kind']}  {candidate['detail']}".rstrip())


def plan_lines(response: ExplainedResponse) -> Iterator[str]:
    """Yield a query's plan: rows, filter, signals, order and steps, each with a label."""
    view, echo = response["explained"], response["query"]
    yield f"{'rows':<9}{view['passing']} of {count_of(view['rows'], view['table'])} pass the filter"
    if "filter" in view:
        yield from _filter(view["filter"], depth=0)
    for signal in echo.get("plan", {}).get("signals", []):
        yield f"{signal['signal']:<9}weight {signal['weight']:g}  {clean(signal['text'])}"
        for term in signal.get("terms", []):
            yield f"{'':<9}{clean(term['text'])}  in {count_of(term['df'], 'chunk')}{weight_of(term)}"
    yield f"{'order':<9}{clean(', '.join(view['order']))}"
    yield f"{'limit':<9}{echo['limit']} offset {echo['offset']} of {count_of(response['stats']['total_hits'], 'row')}"
    yield from (f"{'step':<9}{step}" for step in view["steps"])


def _filter(view: FilterView, *, depth: int) -> Iterator[str]:
    """Yield the parts of a filter, one per line and indented by depth: rows left, method, text."""
    how = view["kind"].upper()
    if "native" in view:
        how = "native" if view["native"] else "scanned"
    yield f"{'filter':<9}{view['rows']:>8}  {how:<9}{'  ' * depth}{clean(view['text'])}"
    for term in view.get("terms", []):
        yield from _filter(term, depth=depth + 1)


_RQL_VARIANTS: dict[str, Command[Any]] = {
    "check": Command("rql check", "Check a query.", run=check_query, prints=query_lines, is_text=True),
    "format": Command("rql format", "Format a query.", run=format_query, prints=query_lines, is_text=True),
    "complete": Command(
        "rql complete",
        "Complete a query at a cursor.",
        run=complete_query,
        prints=in_lines(candidate_lines),
        is_text=True,
    ),
}
COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "replay",
        "Run the query of a receipt again and check that the answer is the same.",
        run=on_store(replay),
        prints=in_lines(replay_lines),
        operand=Operand("FILE", "a receipt written by --receipt"),
        flags=(TIMEOUT,),
        examples=(
            "recall replay retries.json",
            "recall replay retries.json --json",
        ),
        note="Exits with 0 if the answer is identical, else with 7 and a list of what changed.",
        exit_code=lambda response, flags: 0 if response["replay"]["identical"] else 7,
    ),
    Command(
        "get",
        "Print the exact text of a document, a chunk or a range of lines.",
        run=on_store(get),
        prints=text,
        operand=Operand("TARGET", "path, path:FIRST-LAST, or id (6 digits are enough)"),
        flags=(RAW, TIMEOUT),
        examples=("recall get docs/deploy.md", "recall get docs/deploy.md:10-24", "recall get 3f2a9c"),
        is_text=True,
    ),
    Command(
        "ls",
        "List the documents in the store by path, one per line.",
        run=on_store(ls),
        prints=path_lines,
        operand=Operand(
            "PREFIX", "only paths that start with this; a folder name lists everything below it", least=0
        ),
        flags=(
            Flag("--glob", "only paths that match; * and ? match within a folder, ** across folders", "PATTERN"),
            Flag("--long", "also show chunks, tokens, modification time and title", short="-l"),
            Flag("--k", "at most N documents (default: all)", "N", least=0, short="-n"),
            Flag("--offset", "skip the first N documents", "N", least=0),
            TIMEOUT,
        ),
        examples=("recall ls", "recall ls notes/ --glob '**/*.md' -l", "recall ls src -n 100 --offset 200 --json"),
        is_text=True,
        draws=draw_documents,
        talks=talk_of_documents,
        prints_all=long_rows,
    ),
    Command(
        "rql",
        "Check, format, explain or complete a query in RQL, the query language.",
        run=explain_query,
        prints=in_lines(plan_lines),
        operand=Operand(
            "ACTION",
            "check, format, explain or complete, followed by the query: text, @FILE, or - for stdin",
            most=None,
            actions=("check", "format", "explain", "complete"),
        ),
        flags=(
            RQL,
            Flag("--write", "format: write the result back to @FILE"),
            Flag("--cursor", "complete: cursor position in code points (default: end of text)", "N", least=0),
            SET,
            TIMEOUT,
        ),
        examples=(
            "recall rql check @nightly.rql",
            "recall rql format --write @nightly.rql",
            "recall rql explain \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\"",
            "recall rql complete 'SELECT * FROM chunk FILTER doc.t' --json",
        ),
        note="check and format need no store. complete suggests values from the store, if there is one.",
        is_text=True,
        variant=lambda request: _RQL_VARIANTS.get(request.words[0]),
    ),
)
