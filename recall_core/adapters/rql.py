"""`recall rql`: queries checked, formatted, explained and completed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core import api, rql, views
from recall_core.adapters.flags import RQL, SET, TIMEOUT, Command, Flag, Operand
from recall_core.adapters.options import given_rql, read_rql
from recall_core.adapters.render import clean, counted, talk_of_question, weight_of
from recall_core.adapters.streams import replacing
from recall_core.errors import NO_STORE, StoreError, UsageError
from recall_core.shell import Hint
from recall_core.text import one_line

if TYPE_CHECKING:
    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.contract.responses import AnyResponse, Response, RqlResponse
    from recall_core.rql.views import FilterView


def run(request: Request, streams: Streams, opener: Opener) -> AnyResponse:
    """Check, format, explain or complete a query. Only explain needs a store; complete uses one if there is one."""
    action, *words = request.words
    _check_flags(action, request)
    source = given_rql(request.flags.rql, words, f"recall rql {action}")
    text = read_rql(source, streams.stdin)
    settings = tuple(request.flags.set or ())
    if action == "check":
        return api.recall.Recall.check_rql(text, settings)
    if action == "format":
        response = api.recall.Recall.format_rql(text)
        return _write_back(response, source, text) if request.flags.write else response
    if action == "complete":
        return _complete(request, text, opener)
    with opener(request.store) as recall:
        return recall.explain_rql(text, api.recall.Ask(settings=settings))


def _check_flags(action: str, request: Request) -> None:
    flags = request.flags
    given: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
        ("--write", flags.write, ("format",)),
        ("--cursor", flags.cursor is not None, ("complete",)),
        ("--set", bool(flags.set), ("check", "explain")),
    )
    for name, is_given, actions in given:
        if is_given and action not in actions:
            message = f"{name} does not go with recall rql {action}."
            raise UsageError("conflicting_flags", message, hint=f"recall rql {actions[0]} {name}")


def _complete(request: Request, text: str, opener: Opener) -> AnyResponse:
    cursor = len(text) if request.flags.cursor is None else request.flags.cursor
    try:
        store = opener(request.store)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise

        return views.completion(text, cursor, rql.complete.NoVocabulary())
    with store as recall:
        return recall.complete_rql(text, cursor)


def _write_back(response: RqlResponse, source: str, text: str) -> RqlResponse:
    """Put the formatted query into its file, which is only touched when it changes."""
    if not source.startswith("@"):
        message = "--write needs a file to write to."
        raise UsageError("missing_argument", message, hint="recall rql format --write @FILE")
    path = Path(source[1:])
    formatted = response["rql"]["text"] + "\n"
    response["rql"] |= {"path": str(path), "changed": formatted != text}
    if formatted != text:
        with replacing(path, hint=Hint("rql format", "@FILE")) as out:
            out.write(formatted)
    return response


def pieces(response: Response) -> Iterator[str]:
    """Yield what check, format, explain or complete answers; a query stands as it is."""
    yield from (f"{line}\n" for line in _lines(response))


def _lines(response: Response) -> Iterator[str]:
    if "rql" in response:
        view = response["rql"]
        changed = "formatted" if view.get("changed") else "unchanged"
        yield one_line(f"{changed}  {view['path']}") if "path" in view else view["text"]
    if "explained" in response:
        yield from _plan_lines(response)
    for candidate in response.get("candidates", []):
        yield one_line(f"{candidate['text']}  {candidate['kind']}  {candidate['detail']}".rstrip())


def _plan_lines(response: Response) -> Iterator[str]:
    """Yield a query's plan: rows, filter, signals, order and steps, each with its name in front."""
    view, echo = response["explained"], response["query"]
    yield f"{'rows':<9}{view['passing']} of {counted(view['rows'], view['table'])} pass the filter"
    if "filter" in view:
        yield from _filter(view["filter"], depth=0)
    for signal in echo.get("plan", {}).get("signals", []):
        yield f"{signal['signal']:<9}weight {signal['weight']:g}  {clean(signal['text'])}"
        for term in signal.get("terms", []):
            yield f"{'':<9}{clean(term['text'])}  in {counted(term['df'], 'chunk')}  {weight_of(term)}"
    yield f"{'order':<9}{clean(', '.join(view['order']))}"
    yield f"{'limit':<9}{echo['limit']} offset {echo['offset']} of {counted(response['stats']['total_hits'], 'row')}"
    yield from (f"{'step':<9}{step}" for step in view["steps"])


def _filter(view: FilterView, *, depth: int) -> Iterator[str]:
    """Yield a filter's parts, one a line and indented by depth: the rows it leaves, how it is answered, its text."""
    how = view["kind"].upper()
    if "native" in view:
        how = "native" if view["native"] else "scanned"
    yield f"{'filter':<9}{view['rows']:>8}  {how:<9}{'  ' * depth}{clean(view['text'])}"
    for term in view.get("terms", []):
        yield from _filter(term, depth=depth + 1)


COMMANDS: tuple[Command, ...] = (
    Command(
        "rql",
        "Help with writing RQL: check or format a query, explain what it does, complete it at a cursor.",
        run=run,
        prints=pieces,
        operand=Operand(
            "ACTION",
            "check, format, explain or complete; then the query: text, @FILE, or - for stdin",
            most=None,
            actions=("check", "format", "explain", "complete"),
        ),
        flags=(
            RQL,
            Flag("--write", "format: put the result back into the file of @FILE"),
            Flag("--cursor", "complete: the place in code points, by default the end of the text", "N", least=0),
            SET,
            TIMEOUT,
        ),
        examples=(
            "recall rql check @nightly.rql",
            "recall rql format --write @nightly.rql",
            "recall rql explain \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\"",
            "recall rql complete 'SELECT * FROM chunk FILTER doc.t' --json",
        ),
        note="check and format need no store; complete suggests the values of one where there is one.",
        is_text=True,
        talks=talk_of_question,
    ),
)
