"""Count contexts of 4,000 tokens by each vocabulary: questions to a store, packed as `recall context` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.tokens.vocabularies import Count, llama_file
from recall_core.api.recall import Ask, Pack, Recall

BUDGET_TOKENS = 4_000
QUESTIONS = (
    "how do I install from source",
    "who holds the copyright and under which licence",
    "what changed in the last release",
    "parse command line arguments",
    "table of error numbers and signals",
    "configuration file format and default values",
    "json schema of the response",
    "unicode east asian character width",
    "test data expected output hex digest",
    "certificate base64 encoded key",
    "thread safety and locks",
    "sort a list by several keys",
    "network proxy environment variables",
    "known bugs and limitations",
    "build a debian package",
    "translate messages to Japanese or Korean",
)


def report(path: Path, counts: Mapping[str, Count]) -> str:
    """Return a row for each question: the counts of its context, and Llama-2's of a context packed by Llama-2."""
    exact = f"hf:{llama_file()}"
    lines = [f"| question | {' | '.join(('approx-2', *counts, 'hf: Llama-2'))} |", "|---" * (len(counts) + 3) + "|"]
    greatest = 0
    with Recall.open(str(path)) as recall:
        for question in QUESTIONS:
            context = recall.context(question, Ask(), Pack(budget_tokens=BUDGET_TOKENS))["context"]
            own = recall.context(question, Ask(), Pack(budget_tokens=BUDGET_TOKENS, counter=exact))["context"]
            found = [count(context["text"]) for count in counts.values()]
            greatest = max(greatest, *found)
            figures = (context["used_tokens"], *found, own["used_tokens"])
            lines.append(f"| {question} | {' | '.join(map(str, figures))} |")
    return "\n".join((*lines, f"greatest: {greatest}"))
