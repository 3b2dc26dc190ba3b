"""Commands for embedders and vectors: embedders, reembed, rechunk, warm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_core import adapters, api
from recall_core.adapters.flags import Command, Flag, Operand, in_lines, on_store
from recall_core.adapters.progress import follow
from recall_core.adapters.render import count_of
from recall_core.config import CUTTING
from recall_core.errors import NO_STORE, StoreError
from recall_core.text import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from recall_core.adapters.flags import Opener, Request
    from recall_core.adapters.streams import Streams
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import (
        EmbeddersResponse,
        RechunkResponse,
        ReembedResponse,
        WarmResponse,
    )
    from recall_core.contract.views import EmbedderView
    from recall_core.types import Progress


def embedders(request: Request, streams: Streams, opener: Opener) -> EmbeddersResponse:
    """List the embedders, with the settings of the store if there is one."""
    probe = request.flags.probe
    try:
        with opener(request.store) as recall:
            waits, in_use = recall.engine.usable != recall.config, recall.store.embedder()
            return api.recall.Recall.embedders(recall.config, in_use=in_use, probe=probe, waits=waits)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise
        return api.recall.Recall.embedders(probe=probe)


def embedder_lines(response: EmbeddersResponse) -> Iterator[str]:
    """Yield one line per embedder, in columns. Unknown values are `-`."""
    rows = [embedder_row(view) for view in response["embedders"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def embedder_row(view: EmbedderView) -> tuple[str, ...]:
    """Return name, state, dimension, max input, location, weight, pace and description."""
    usable = "available" if view.get("probed", True) else "not probed"
    state = "in use" if view["in_use"] else usable if view["available"] else "unavailable"
    pace = f"{view['texts_per_second']:g}/s" if "texts_per_second" in view else "-"
    about = view["purpose"] + (f" ({view['reason']})" if view["reason"] else "")
    figures = str(view.get("dimension", "-")), str(view.get("max_input", "-"))
    return (
        view["name"],
        state,
        *figures,
        "network" if view["network"] else "this machine",
        f"{view['vector_weight']:g}",
        pace,
        about,
    )


def draw_embedders(response: EmbeddersResponse, console: Console, flags: Any) -> RenderableType:
    """Draw each embedder: its figures on the first line, its description below."""
    return adapters.terminal.Group(
        *(line for view in response["embedders"] for line in _draw_embedder(view, console.width))
    )


def _draw_embedder(view: EmbedderView, width: int) -> Iterator[Text]:
    name, state, dimension, reads, where, weight, pace, _ = map(one_line, embedder_row(view))
    figures = [where, f"weight {weight}"]
    figures += [f"{dimension} components"] if dimension != "-" else []
    figures += [f"reads {reads} tokens"] if reads != "-" else []
    figures += [f"embeds {pace}"] if pace != "-" else []
    style = "green" if view["in_use"] else "" if view["available"] else "dim"
    head = f"{name:<22} {state:<11} "
    yield from (
        adapters.terminal.Text(line, style=style)
        for line in adapters.terminal.join_with_dots(figures, width, head=head)
    )
    reason, installs, command = one_line(view["reason"]).partition("installed: ")
    for about in (one_line(view["purpose"]), f"{reason}{installs.rstrip(': ')}"):
        yield from (
            adapters.terminal.Text(line, style="dim")
            for line in adapters.terminal.fit(f"    {about}", width)
            if about
        )
    if command:
        yield from (
            adapters.terminal.Text(line, style="dim") for line in adapters.terminal.fit(f"    {command}", width)
        )


def reembed(recall: Recall, request: Request, streams: Streams) -> ReembedResponse:
    """Compute every vector again, with a progress bar."""
    work = recall.reembed(request.words[0], tuple(request.flags.set or ()), given=request.flags.given)

    def kept(last: Progress | None) -> str:
        done, texts = (last.embedded + last.reused, last.chunks) if last else (0, 0)
        return f"{done} of {texts} texts have new vectors, searches still use the old ones"

    return follow(work, streams=streams, name="embedding", kept=kept)


def reembedded_lines(response: ReembedResponse) -> Iterator[str]:
    """Yield the outcome of reembed on one line."""
    view = response["reembedded"]
    tokens = f"; {count_of(view['tokens'], 'token')}" if "tokens" in view else ""
    given = f"; {count_of(view['given'], 'given vector')} replaced" if "given" in view else ""
    yield (
        f"{view['previous']} -> {view['embedder']}  {count_of(view['vectors'], 'vector')}: "
        f"{count_of(view['embedded'], 'text')} embedded, {view['reused']} reused{given}{tokens}"
    )


def rechunk(recall: Recall, request: Request, streams: Streams) -> RechunkResponse:
    """Split every document again, with a progress bar."""
    named = {key: getattr(request.flags, key) for key in CUTTING if getattr(request.flags, key) is not None}
    work = recall.rechunk(named, dry_run=request.flags.dry_run)

    def kept(last: Progress | None) -> str:
        return f"{last.embedded if last else 0} vectors are saved, searches still use the old chunks"

    return follow(work, streams=streams, kept=kept)


def rechunked_lines(response: RechunkResponse) -> Iterator[str]:
    """Yield the chunking settings and their effect."""
    view = response["rechunked"]
    before, after = view["before"], view["after"]
    limits = ("chunk_tokens", "overlap_tokens", "max_chunk_chars", "counter")
    pairs = [(name, before[name], after[name]) for name in limits]  # type: ignore[literal-required]
    yield ", ".join(f"{name} {old} -> {new}" if old != new else f"{name} {new}" for name, old, new in pairs)
    if not view["documents"]:
        sizes = f"{count_of(after['chunks'], 'chunk')}, {after['tokens_per_chunk']:g} tokens each"
        yield f"no document changes: {sizes}"
        return
    sizes = f"{before['chunks']} -> {count_of(after['chunks'], 'chunk')}"
    tokens = f"{before['tokens_per_chunk']:g} -> {after['tokens_per_chunk']:g} tokens each"
    to_embed = f"{count_of(view['embedded'], 'text')} {'to embed' if view['dry_run'] else 'embedded'}"
    charged = f"; {count_of(view['tokens'], 'token')}" if "tokens" in view else ""
    did = "would be rechunked" if view["dry_run"] else "rechunked"
    yield (
        f"{count_of(view['documents'], 'document')} {did}: {sizes}, {tokens}; "
        f"{to_embed}, {view['reused']} reused{charged}"
    )


def warm(recall: Recall, request: Request, streams: Streams) -> WarmResponse:
    """Embed in advance what a reranker reads, with a progress bar."""
    flags = request.flags
    work = recall.warm(
        queries=None if flags.queries is None else Path(flags.queries),
        everything=flags.all,
        budget_s=flags.budget_s,
        settings=tuple(flags.set or ()),
    )
    return follow(work, streams=streams, name="embedding", kept=lambda _: "the vectors made so far are saved")


def warmed_lines(response: WarmResponse) -> Iterator[str]:
    """Yield the outcome of warm on one line."""
    view = response["warmed"]
    queries = f"{view['questions']} {'query' if view['questions'] == 1 else 'queries'}, " if view["questions"] else ""
    left = f", {view['left']} left" if view["left"] else ""
    yield (
        f"{view['reranker']}: {queries}{count_of(view['embedded'], 'text')} embedded{left}; "
        f"{view['kept']} of {view['texts']} stored, {view['bytes'] / 1e6:.1f} MB"
    )


COMMANDS: tuple[Command[Any], ...] = (
    Command(
        "embedders",
        "List embedders: whether each works here, why not, and what it is good for.",
        run=embedders,
        prints=in_lines(embedder_lines),
        flags=(Flag("--probe", "also measure how many texts per second each available embedder embeds"),),
        examples=("recall embedders", "recall embedders --probe --json"),
        draws=draw_embedders,
    ),
    Command(
        "reembed",
        "Re-embed all chunks with another embedder. Searches use the old vectors until it finishes.",
        run=on_store(reembed),
        prints=in_lines(reembedded_lines),
        operand=Operand("NAME", "name of an embedder (see recall embedders), or auto"),
        flags=(
            Flag("--set", "also save this setting in recall.toml", "KEY=VALUE", many=True),
            Flag("--given", "also replace vectors that a program gave"),
        ),
        examples=("recall reembed local", "recall reembed openai --set embedding_model=text-embedding-3-small"),
        note="If interrupted, run the same command again to continue.",
    ),
    Command(
        "rechunk",
        "Split all documents into larger or smaller chunks. Searches use the old chunks until it finishes.",
        run=on_store(rechunk),
        prints=in_lines(rechunked_lines),
        flags=(
            Flag("--chunk-tokens", "target number of tokens per chunk", "N", least=1),
            Flag("--overlap-tokens", "tokens that neighbouring chunks share", "N", least=0),
            Flag("--max-chunk-chars", "most characters per chunk", "N", least=1),
            Flag(
                "--counter",
                "token counter: whitespace, approx, approx-2, approx:modern or hf:tokenizer.json",
                "NAME",
            ),
            Flag("--dry-run", "only report how many chunks this makes and how many texts to embed"),
        ),
        examples=(
            "recall rechunk --chunk-tokens 200 --overlap-tokens 40 --dry-run",
            "recall rechunk --chunk-tokens 200 --overlap-tokens 40",
        ),
        note="Other values come from recall.toml. If interrupted, run the same command again to continue.",
    ),
    Command(
        "warm",
        "Embed in advance the texts that the reranker reads, so that queries do not wait.",
        run=on_store(warm),
        prints=in_lines(warmed_lines),
        flags=(
            Flag("--queries", "embed for these queries: JSON lines of {_id, text} (BEIR), or TSV", "FILE"),
            Flag("--all", "embed every text in the store, up to rerank_mb"),
            Flag("--budget-s", "stop after S seconds and keep the vectors made so far", "S", is_seconds=True),
            Flag("--set", "override a ranking setting for this run, such as rerank", "KEY=VALUE", many=True),
        ),
        examples=(
            "recall warm --all",
            "recall warm --queries queries.jsonl --set rerank=minilm",
            "recall warm --all --budget-s 600 --json",
        ),
        note="If interrupted or out of time, run the same command again to continue.",
    ),
)
