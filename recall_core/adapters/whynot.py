"""`recall whynot` and `recall trace`: print why a target is missing, and the rows that each stage keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from recall_core import shell
from recall_core.adapters.flags import (
    EXPLAIN,
    QUESTION,
    RQL,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    ask_of,
    check_question,
    in_lines,
    on_store,
    pack_of,
    read_rql,
)
from recall_core.adapters.render import DIGITS, NOTHING_RECALLED, clean, count_of, weight_of
from recall_core.config import NAMES
from recall_core.errors import UsageError
from recall_core.shell import AGAIN, Hint
from recall_core.text import behind_unit

if TYPE_CHECKING:
    from recall_core.adapters.flags import Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Ask, Pack, Recall
    from recall_core.contract.explaining import (
        EvidenceView,
        FixView,
        PredicateView,
        RivalView,
        SoughtView,
        StageView,
        TraceView,
        WhyNotView,
    )
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.responses import TraceResponse, WhyNotResponse


_ASKING = tuple(flag for flag in QUESTION if flag is not EXPLAIN and flag.name != "--strict-fresh")

_PACKING = (
    Flag("--budget-tokens", "explain a context of N tokens instead of the list", "N", least=1),
    Flag("--diversity", "context: at most N chunks per document (0: no limit)", "N", least=0),
    Flag(
        "--counter",
        "context: token counter: approx-2, approx:modern, whitespace, approx or hf:FILE",
        "NAME",
    ),
)

WIDTH = 30  # cells of the longest bar
_MARKS = {"pass": "✓", "fail": "✗", "not_applicable": "·"}
_SETTING = re.compile(r"(?<= --set )\w+(?==)")
_OF_WORDS = {"name": " (in its path, title or heading)", "term": " (distinctive for its text)"}
"""A note on a word to add, by kind of fix."""

VERDICTS = {
    "not_ingested": "it is not in the store",
    "stale": "its file changed after it was indexed",
    "tombstoned": "it was removed from the store",
    "no_vector": "it has no vector",
    "not_indexed": "the full-text index does not contain it",
    "filter": "the filter excludes it",
    "lexical": "no query word matches it",
    "semantic": "its meaning is not close to the query",
    "ann_miss": "the vector index missed it",
    "pool_miss": "it is in no pool: neither words nor meaning are close enough",
    "rank": "its score is too low",
    "tie_break": "a row with the same score comes first",
    "threshold": "its score is below min_score",
    "distant": "it has no query word and its cosine is below min_cosine",
    "rerank": "the reranker ranked it lower",
    "copy": "another row has the same text",
    "displaced": "sparse-document recall gave its row to a short document",
    "offset": "it ranks before the first row shown",
    "limit": "it ranks after the last row shown",
    "diversity": "the context already has enough chunks of its document",
    "duplicate": "the context already contains its text",
    "budget": "the token budget is used up before it",
    "truncated": "the target is in the part that was cut off",
}
"""The text of each verdict."""

NOT_RECALLED = NOTHING_RECALLED | {
    "not_short": "no near document is short",
    "too_far": "no short document is similar enough",
    "already_present": "the similar documents are already in the list",
    "not_mostly_long": "the list does not contain mostly long documents",
}
"""Why sparse-document recall added nothing, without figures."""


def whynot(recall: Recall, request: Request, streams: Streams) -> WhyNotResponse:
    """Run `recall whynot WORDS --target TARGET`."""
    target = request.flags.target
    if target is None:
        hint = Hint("whynot", "WORDS", target="docs/a.md")
        raise UsageError("missing_argument", "recall whynot needs --target.", hint=hint)
    words, ask, pack, rql = _question(request, streams)
    response = recall.why_not(words, target, ask, pack, rql=rql, fixes=not request.flags.no_fixes)
    for fix in response["whynot"].get("fixes", []):
        fix["command"] = shell.in_store(fix["command"], request.store, agent=request.agent)
    return response


def trace(recall: Recall, request: Request, streams: Streams) -> TraceResponse:
    """Run `recall trace WORDS`."""
    words, ask, pack, rql = _question(request, streams)
    return recall.trace(words, ask, pack, rql=rql)


def all_lines(response: WhyNotResponse) -> Iterator[str]:
    """Yield the lines of --all: `whynot_lines` with every stage, the target's other chunks and the proof."""
    view = response["whynot"]
    yield from account(view)
    if "chosen" in view["target"]:
        yield ""
        yield from _ladder(view)
        others = view["target"].get("others", [])
        yield from (f"also  {_where(other, other)}  {_rank(other)}" for other in others)
        yield from _proof(view)


def whynot_lines(view: WhyNotView) -> Iterator[str]:
    """Yield the verdict, the first failing stage, the fixes, and what --all adds."""
    yield from account(view)
    if "chosen" in view["target"]:
        more = [f"all {count_of(len(view['stages']), 'stage')}"]
        if others := view["target"].get("others", []):
            more.append(count_of(len(others), "other chunk"))
        if "proof" in view:
            more.append("the chunks ahead of it")
        yield f"more  --all shows {' and '.join(more)}"


def account(view: WhyNotView, describe: Callable[[FixView, str], str] | None = None) -> Iterator[str]:
    """Yield the verdict, the first failing stage, and the fixes.

    describe: writes a fix and its change for callers that do not type commands.
    """
    target = view["target"]
    failing = next((stage for stage in view["stages"] if stage["status"] == "fail"), None)
    if "chosen" not in target:
        where = "store" if view["verdict"] == "not_ingested" else "answer"
        why = "" if failing is None else f": {clean(failing['detail'])}"
        yield f"{clean(view['target']['text'])} is not in the {where}{why}"
        if failing is not None:
            yield from _hint(failing)
        return
    outcome = "is in the answer" if view["present"] else f"is not in the answer: {VERDICTS[view['verdict']]}"
    chosen = target["chosen"]
    unit = chosen if target["kind"] in ("lines", "text") else chosen.get("passage", chosen)  # the unit the user named
    yield f"{_where(chosen, unit)} {outcome}  {_rank(chosen)}"
    if view["present"]:
        return
    if failing is not None:
        yield f"why   {failing['stage']}: {clean(_sentence(failing))}"
        yield from _hint(failing)
    for fix in view.get("fixes", []):
        smaller = fix.get("next_smaller")
        tried = f"; confirmed, {clean(smaller)} is not enough" if smaller else "; confirmed"
        change = f"{clean(fix['change'])}{_OF_WORDS.get(fix['kind'], '')}{tried}"
        yield from (
            (f"fix   {command_of(fix)}", f"      {change}")
            if describe is None
            else (f"fix   {describe(fix, change)}",)
        )
    if view.get("fixes") == []:
        yield f"fix   none found{_no_fix_reason(view)}"
    yield from _few_words(view)


def _hint(stage: StageView) -> Iterator[str]:
    if "hint" in stage:
        yield f"hint: {clean(stage['hint'])}"


def _sentence(stage: StageView) -> str:
    """Return why a stage fails, in a sentence that needs no other stage."""
    evidence = stage.get("evidence", {})
    if stage["stage"] == "fusion" and "last_score" in evidence:
        return (
            f"it is row {evidence['rank']} of {evidence['of']} with a score of {evidence['score']:.6f}; "
            f"row {evidence['last']}, the last row shown, has {evidence['last_score']:.6f}"
        )
    if stage["stage"] == "rerank" and "rank_before" in evidence:
        return f"the reranker moved it from row {evidence['rank_before']} to row {evidence['rank']}"
    return detail_of(stage)


def detail_of(stage: StageView) -> str:
    """Return the text of a stage, or why sparse-document recall added nothing."""
    reason = stage.get("evidence", {}).get("reason")
    if stage["stage"] == "sparse" and stage["detail"].endswith(f"({reason})") and reason in NOT_RECALLED:
        return f"not applied: {NOT_RECALLED[reason]}"
    return stage["detail"]


def command_of(fix: FixView) -> str:
    """Return the command of a fix, with settings named as in recall.toml."""
    return _SETTING.sub(lambda found: NAMES.get(found[0], found[0]), fix["command"])


def _few_words(view: WhyNotView) -> Iterator[str]:
    """Yield how many words of the target were tried, if not all."""
    if "words" in view and "few_for" in view["words"] and view["words"]["tried"]:
        words = view["words"]
        for_whom = {"context": "a context", "match": "match=all", "model": "ts_rank"}[words["few_for"]]
        verb = "was" if words["tried"] == 1 else "were"
        tried = f"{words['tried']} of its {count_of(words['of'], 'word')} {verb} tried"
        yield f"note  {tried}: {for_whom} tries at most {words['most']}"


def _no_fix_reason(view: WhyNotView) -> str:
    if "no_proof" in view:
        return f"; no proof: {view['no_proof']}"
    if "proof" not in view:
        return ""
    proof = view["proof"]
    return f": at every weight it ranks below the first {proof['k']}; its best rank is {proof['best_rank']}"


def _ladder(view: WhyNotView) -> Iterator[str]:
    """Yield one line per stage, and details of the first that fails."""
    expanded = view["present"]
    for stage in view["stages"]:
        yield f"{_MARKS[stage['status']]} {stage['stage']:<10} {clean(detail_of(stage))}"
        if stage["status"] == "fail" and not expanded:
            expanded = True
            yield from (f"{'':<13}{line}" for line in _evidence(stage.get("evidence", {})))


def trace_lines(view: TraceView) -> Iterator[str]:
    """Yield one line per stage: rows in, rows out, milliseconds and a bar. Below the filter, yield its predicates."""
    most = max((stage["rows_out"] for stage in view["stages"]), default=0)
    yield f"{'stage':<10}{'in':>9}{'out':>9}{'ms':>9}"
    for stage in view["stages"]:
        spent = view["timings"].get(stage["stage"])
        ms = "" if spent is None else f"{spent:.1f}"
        bar = "#" * (-(-WIDTH * stage["rows_out"] // most) if most else 0)
        yield f"{stage['stage']:<10}{stage['rows_in']:>9}{stage['rows_out']:>9}{ms:>9}  {bar}".rstrip()
        if stage["stage"] == "filter" and "filter" in view:
            yield f"  {'alone':>8}{'in order':>10}{'only by':>9}  removed"
            for predicate in view["filter"]:
                yield from _predicate(predicate)


def _question(request: Request, streams: Streams) -> tuple[str | None, Ask, Pack, str | None]:
    check_question(request)
    flags = request.flags
    if flags.budget_tokens is None and (flags.diversity is not None or flags.counter is not None):
        flag = "--diversity" if flags.diversity is not None else "--counter"
        raise UsageError(
            "conflicting_flags",
            f"{flag} needs --budget-tokens.",
            hint=Hint(AGAIN, budget_tokens=2000),
        )
    words = " ".join(request.words) if flags.rql is None else None
    rql = None if flags.rql is None else read_rql(flags.rql, streams.stdin)
    return words, ask_of(flags), pack_of(flags), rql


def _where(view: SoughtView, unit: SoughtView | PassageView) -> str:
    return clean(view["path"] + behind_unit(view["path"], unit))


def _rank(view: SoughtView) -> str:
    rank = "not ranked" if view["rank"] is None else f"rank {view['rank']}"
    return f"{view['chunk_id'][:DIGITS]}  {rank}"


def _evidence(view: EvidenceView) -> Iterator[str]:
    for failing in view.get("failing", []):
        value = "missing" if failing["value"] is None else clean(str(failing["value"]))[:80]
        yield f"{clean(failing['predicate'])}  is {value}"
    for dropped in view.get("drop", []):
        yield f"search without  {clean(' and without '.join(dropped))}"
    for term in view.get("terms", []):
        stem = f" ({clean(term['stem'])})" if "stem" in term else ""
        counts = f"  title {term['title']} body {term['body']}" if "title" in term and "body" in term else ""
        floored = "  floored" if term.get("floored") else ""
        yield f"{clean(term['text'])}{stem}  in {count_of(term['df'], 'chunk')}{weight_of(term)}{floored}{counts}"
    if "last_score" in view and "gap" in view:
        yield f"score {view['score']:.6f}, row {view['last']} has {view['last_score']:.6f}: {view['gap']:.6f} short"
    if "against" in view:
        yield _rival(view["against"])
    for chunk_id in view.get("siblings", []):
        yield f"packed  {chunk_id[:DIGITS]}"
    for rule in view.get("rules", []):
        yield f"rule  {clean(rule)}"


def _proof(view: WhyNotView) -> Iterator[str]:
    if "no_proof" in view:
        yield f"proof none: {view['no_proof']}"
    if "proof" not in view:
        return
    proof = view["proof"]
    at = "" if proof["at"] is None else f", at weight {proof['at']:g}"
    yield f"proof no weight ranks it in the first {proof['k']}: its best rank is {proof['best_rank']}{at}"
    yield f"      {count_of(proof['always_ahead'], 'chunk')} ahead of it at every weight; ahead at its best rank:"
    yield from (f"      {_rival(rival)}" for rival in proof["ahead"])


def _rival(view: RivalView) -> str:
    figures = [f"{name} {view[name]:.3f}" for name in ("lexical", "semantic", "score") if name in view]
    return "  ".join([view["chunk_id"][:DIGITS], clean(view["path"]), *figures])


def _predicate(view: PredicateView, depth: int = 0) -> Iterator[str]:
    text = f"{'  ' * depth}{clean(view['text'])}"
    if "removed_alone" in view:
        removed = (view["removed_alone"], view["removed_in_order"], view["removed_only_by_this"])
        yield f"  {removed[0]:>8}{removed[1]:>10}{removed[2]:>9}  {text}"
    else:
        passes = "passes" if view["rows"] == 1 else "pass"
        yield f"  {'':>27}  {text}  ({count_of(view['rows'], 'row')} {passes})"
    if view.get("missing"):
        yield f"  {'':>27}  {'  ' * depth}{count_of(view['missing'], 'row')} without a value"
    for term in view.get("terms", []):
        yield from _predicate(term, depth + 1)


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "whynot",
        "Explain why a document, line, chunk or text is missing from an answer, and what would add it.",
        run=on_store(whynot),
        prints=in_lines(lambda response: whynot_lines(response["whynot"])),
        operand=Operand("WORDS", WORDS + "; or use --rql", least=0, most=None),
        flags=(
            Flag("--target", 'what is missing: path, path:LINE, id, or "text of it"', "TARGET"),
            Flag("--no-fixes", "do not search for fixes"),
            Flag("--all", "also show every stage, the target's other chunks and the proof"),
            RQL,
            K,
            *_PACKING,
            *_ASKING,
        ),
        examples=(
            'recall whynot "how we handle retries" --target docs/retries.md',
            "recall whynot retries --target docs/retries.md:120 --k 5 --bm25",
            "recall whynot retries --target 'three times' --budget-tokens 800 --json",
        ),
        note="Exits with 0 if the target is in the answer, 7 if it is missing, 8 if it does not exist.",
        prints_all=in_lines(all_lines),
        exit_code=lambda response, flags: 0 if response["whynot"]["present"] else 7,
    ),
    Command(
        "trace",
        "Show how many rows each step of a search keeps, and its time.",
        run=on_store(trace),
        prints=in_lines(lambda response: trace_lines(response["trace"])),
        operand=Operand("WORDS", WORDS + "; or use --rql", least=0, most=None),
        flags=(RQL, K, *_PACKING, *_ASKING),
        examples=(
            "recall trace retries --filter \"doc.tag = 'docs' AND doc.mtime >= '2024-01-01'\"",
            'recall trace "how we handle retries" --budget-tokens 1200 --json',
        ),
    ),
)
