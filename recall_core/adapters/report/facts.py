"""What a report says in words, the same in HTML and in Markdown: (name, value) pairs in order."""

from __future__ import annotations

from collections.abc import Iterator

from recall_core.adapters.render import account_lines, counted, weight_of
from recall_core.contract.responses import Response
from recall_core.contract.views import ContextView


def question(response: Response) -> str:
    """The words, or the query, that were asked."""
    query = response.get("query")
    return "" if query is None else query.get("rql", query.get("text", ""))


def plan_facts(response: Response) -> Iterator[tuple[str, str]]:
    """Everything that decided the order."""
    query = response.get("query")
    if query is None:
        return
    if "filters" in query:
        yield "filter", query["filters"]
    yield "rows", f"{query['limit']}" + (f" after {query['offset']}" if query["offset"] else "")
    plan = query.get("plan")
    if plan is None:
        return
    for name in ("mode", "fusion", "normalize"):
        yield name, plan[name]
    yield "weights", ", ".join(f"{name} {weight:g}" for name, weight in plan["weights"].items())
    if "rrf_k" in plan:
        yield "rrf k", f"{plan['rrf_k']:g}"
    limits = (("min score", plan["min_score"]), ("min cosine", plan.get("min_cosine", 0)))
    yield from ((name, f"{least:g}") for name, least in limits if least)
    yield "index", plan["index"]
    if "rerank" in plan:
        yield (
            "rerank",
            f"{plan['rerank']['model']}, best {plan['rerank']['rows']}, weight {plan['rerank']['weight']:g}",
        )
    if "lexical_model" in plan:
        yield "words scored by", plan["lexical_model"]["model"]
    for signal in plan["signals"]:
        if "bound" in signal:
            yield "bm25 bound", f"{signal['bound']:.3f}"
        for term in signal.get("terms", []):
            yield f"“{term['text']}”", f"in {counted(term['df'], 'chunk')}, {weight_of(term)}"


def account_facts(view: ContextView) -> Iterator[tuple[str, str]]:
    """The account of the context, as the command line tells it."""
    if "account" in view:
        yield from ((line[:11].rstrip(), line[11:]) for line in account_lines(view["account"]))
