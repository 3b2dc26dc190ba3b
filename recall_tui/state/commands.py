"""The content of panes as a shell command or as a query in RQL. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from recall_core import rql, shell
from recall_core.config import KEYS, NAMES, Config, assignments, by_key, by_name
from recall_tui.state import judging
from recall_tui.state.explaining import (
    DocumentPassage,
    chunk_of,
    compare_analysis,
    passage_analysis,
    short,
    whynot_of,
)
from recall_tui.state.packing import flags
from recall_tui.state.session import Session, filter_of, value_of
from recall_tui.state.store_pane import command_words
from recall_tui.state.tuning import DEPTH, first_rows, of_words, pins_of
from recall_tui.state.weighing import differences, is_hybrid, why_no_lines

if TYPE_CHECKING:
    from recall_core.config import Config
    from recall_core.retrieve.plan import Plan
    from recall_core.rql.ast import Query, Value
    from recall_core.rql.lexer import Token


class Edit(NamedTuple):
    """A range of the text and its replacement."""

    start: int
    end: int
    text: str


def has_option(key: str) -> bool:
    """Return True if a query can set this setting itself."""
    return key in rql.options.OPTIONS


def with_options(text: str, query: Query, options: Mapping[str, Value], *, limit: int | None = None) -> str:
    """Write these options into the text, under the names it already uses for them, and the LIMIT if given.

    query: the syntax tree of the text.
    """
    tokens = [token for token in rql.lexer.tokenize(text) if token.kind != "end" and token.text != ";"]
    clause = _clause(tokens, "OPTION")
    added = by_key(options)
    edits = []
    for name, value in _values(tokens, clause, len(query.options)):
        key = KEYS.get(name.text, name.text)
        if key in added:
            edits.append(Edit(value.start, value.end, _print_options({name.text: added.pop(key)}).partition(" ")[2]))
    added = {NAMES.get(key, key): value for key, value in added.items()}
    end = tokens[-1].end
    tail = ""
    if limit is not None:
        at = _clause(tokens, "LIMIT")
        if at is not None:
            edits.append(Edit(tokens[at + 1].start, tokens[at + 1].end, str(limit)))
        elif clause is not None:
            edits.append(Edit(tokens[clause].start, tokens[clause].start, f"LIMIT {limit} "))
        else:
            tail += f"{_break(text)}LIMIT {limit}"
    if added and clause is None:
        tail += f"{_break(text)}OPTION {_print_options(added)}"
    elif added and clause is not None:
        last = _values(tokens, clause, len(query.options))[-1][1].end
        edits.append(Edit(last, last, f", {_print_options(added)}"))
    edits.append(Edit(end, end, tail))
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def as_query(words: str, config: Config, *, limit: int, options: Mapping[str, Value]) -> str:
    """Return the query in RQL that gives the rows of a search for these words. Raises RqlError if there is none.

    options: changed settings. Settings that a query needs an explicit OPTION for are added to them.
    """
    set_options = {NAMES.get(key, key): value for key, value in options.items() if has_option(key)}
    if config.sparse_recall:
        set_options["sparse_recall"] = True
    else:
        set_options.pop("sparse_recall", None)
    if config.collapse:
        set_options["collapse"] = True
    else:
        set_options.pop("collapse", None)
    if config.rerank:
        set_options["rerank"] = config.rerank
    query = rql.ast.Query(
        table="chunk",
        using=(rql.ast.Using("lexical", words), rql.ast.Using("semantic", words)),
        limit=limit,
        options=tuple(set_options.items()),
    )
    text = rql.print.print_query(query)
    rql.parser.parse_query(text)
    return text


def _clause(tokens: list[Token], word: str) -> int | None:
    """Return the last token that is this clause's keyword. After a point the word is a field or a metadata key."""
    places = [
        at
        for at, token in enumerate(tokens)
        if token.kind == "name" and token.text.upper() == word and tokens[at - 1].text != "."
    ]
    return places[-1] if places else None


def _values(tokens: list[Token], clause: int | None, count: int) -> list[tuple[Token, Token]]:
    """Return the options of the clause, each name with its value. Options are separated by commas."""
    if clause is None:
        return []
    return [(tokens[clause + 1 + 3 * at], tokens[clause + 2 + 3 * at]) for at in range(count)]


def _print_options(options: Mapping[str, Value]) -> str:
    """Return `name value, name value`, as in a query."""
    return rql.print.print_query(rql.ast.Query(table="chunk", options=tuple(options.items()))).partition(" OPTION ")[
        2
    ]


def _break(text: str) -> str:
    """Return the separator of clauses: a line break if the query has several lines, else a blank."""
    return "\n" if "\n" in text.strip() else " "


def command(session: Session, store: str | None) -> str:
    """Return a `recall` command line for the content of the active pane, or "" before there is an answer.

    store: the --store value of the workbench, or None if the store was found from the current folder.
    """
    answer = session.results.answer
    if session.pane == "judge":
        return _evaluation(session, store)
    if session.pane in ("ingest", "store"):
        return join_command(store, *command_words(session))
    if answer is None:
        return ""
    if session.pane == "explain":
        return explain_command(session, store)
    plan = answer.plan
    in_context = session.pane == "context"
    if in_context:
        verb = ["context", *flags(session.context.packing, session.context.budget_tokens)]
        verb += ["--k", str(plan.limit)] if session.weights.k is not None and plan.is_capped else []
    elif plan.rql is not None:
        verb = ["query"]
    else:
        verb = ["search", "--k", str(plan.limit)]
    verb += _set(_moved_settings(session, plan.config))
    rql = plan.rql
    if plan.query is not None and session.weights.k is not None and not in_context:
        rql = with_options(plan.text, plan.query, {}, limit=plan.limit)
    return join_command(store, *verb, *_question(plan, rql))


def commands(session: Session, store: str | None) -> str:
    """Return the command of the pane. The weights pane adds a second line, for its plots over all weights."""
    lines = [command(session, store)]
    if session.pane == "weights" and lines[0]:
        lines.append(_tune(session, store))
    return "\n".join(filter(None, lines))


def _tune(session: Session, store: str | None) -> str:
    """Return the command for what the pane draws at every weight: mean curve, pins or rank lines."""
    answer = session.results.answer
    if session.weights.is_of_all and judging.is_measurable(session):
        changed = differences(of_words(session), session.weights.saved)
        return join_command(store, "tune", "--sweep", *_set(assignments(by_name(changed))))
    if answer is None or not is_hybrid(answer) or why_no_lines(answer):
        return ""
    verb, plan, pins = ["tune"], answer.plan, pins_of(session)
    for pin in pins:
        verb += ["--pin" if pin.want == "in" else "--pin-not", pin.chunk_id]
    verb += ["--k", str(first_rows(session))] if pins else ["--sweep", "--k", str(max(1, min(plan.limit, DEPTH)))]
    verb += ["--collapse"] if plan.collapses and not pins else []
    verb += _set(_moved_settings(session, plan.config))
    return join_command(store, *verb, *_question(plan, plan.rql))


def _evaluation(session: Session, store: str | None) -> str:
    """Return the command that measures the judged queries, compared with the saved settings if any are changed."""
    if judging.pointed_line(session) is None:
        return ""
    measure = judging.measure_of(session)
    measures = ",".join((measure, *(other for other in judging.MEASURES if other != measure)))
    saved = join_command(store, "eval", "--metrics", measures)
    if not session.weights.tweaks:
        return f"{saved} --per-query"
    moved = shell.join(_set(assignments(by_name(session.weights.tweaks))))
    return f"{saved} --json | {saved} --per-query {moved} --baseline /dev/stdin"


def _moved_settings(session: Session, config: Config) -> tuple[str, ...]:
    """Return the settings that differ from those the question has without changes."""
    return assignments(by_name(differences(config, session.weights.plain)))


def _set(changed: tuple[str, ...]) -> list[str]:
    return [word for assignment in changed for word in ("--set", assignment)]


def _question(plan: Plan, rql: str | None) -> list[str]:
    if rql is not None:
        return ["--rql", rql]
    filters, words = filter_of(plan), plan.text.strip()
    filter_words = [] if filters is None else ["--filter", filters]
    return [*filter_words, "--", words] if words.startswith("-") else [*filter_words, words]


def join_command(store: str | None, *words: str) -> str:
    """Return a command as typed, with the store if one was named."""
    return shell.in_store(shell.join(["recall", *words]), store or None)


def explain_command(session: Session, store: str | None) -> str:
    """Return a `recall` command line for the tab, or "" if it has nothing to show yet."""
    if session.results.answer is None:
        return ""
    match session.view:
        case "passage":
            words = _get(session)
        case "whynot":
            words = _whynot(session)
        case "funnel":
            words = ["trace", *_asked_question(session, (*_k(session), *_budget(session)))]
        case "ledger" | "compare":
            words = _explain(session)
    return join_command(store, *words) if words else ""


def _explain(session: Session) -> list[str]:
    """Return the command for the ledger of the chunk, or for its comparison with another chunk."""
    chunk, analysis = chunk_of(session), compare_analysis(session) if session.view == "compare" else None
    if not chunk:
        return []
    versus = ["--vs", short(analysis.other)] if analysis is not None else []
    return ["explain", "--chunk", short(chunk), *versus, *_asked_question(session, _listing(session))]


def _listing(session: Session) -> tuple[str, ...]:
    """Return the flags for the listed rows."""
    answer = session.results.answer
    return _k(session) if answer is None or answer.plan.rql is not None else ("--k", str(answer.plan.limit))


def _whynot(session: Session) -> list[str]:
    if not session.results.sought:
        return []
    missing = whynot_of(session)
    in_list = missing is None or missing.in_list
    target = (
        [f"--target={session.results.sought}"]
        if session.results.sought.startswith("-")
        else ["--target", session.results.sought]
    )
    return [
        "whynot",
        *target,
        *_asked_question(session, (*_k(session), *_budget(session)) if in_list else _listing(session)),
    ]


def _get(session: Session) -> list[str]:
    """Return the command for the document, or for its visible lines."""
    passage = value_of(session, passage_analysis(session), DocumentPassage)
    if passage is None:
        return []
    is_complete = passage.from_start and passage.to_end
    lines = "" if is_complete else f":{passage.lines[0].number}-{passage.lines[-1].number}"
    return ["get", f"{passage.path}{lines}"]


def _budget(session: Session) -> tuple[str, ...]:
    return ("--budget-tokens", str(session.context.budget_tokens))


def _k(session: Session) -> tuple[str, ...]:
    return () if session.weights.k is None else ("--k", str(session.weights.k))


def _asked_question(session: Session, flags: tuple[str, ...]) -> list[str]:
    """Return the flags, the changed settings, and last the question."""
    answer = session.results.answer
    assert answer is not None  # noqa: S101 - the caller checked
    plan, parts = answer.plan, [*flags]
    given = {flag.partition("=")[0] for flag in flags}
    for assignment in _moved_settings(session, plan.config):
        parts += ["--set", assignment] if assignment.partition("=")[0] not in given else []
    if plan.rql is not None:
        return [*parts, "--rql", plan.rql]
    if (filters := filter_of(plan)) is not None:
        parts += ["--filter", filters]
    words = plan.text.strip()
    return [*parts, "--", words] if words.startswith("-") else [*parts, words]
