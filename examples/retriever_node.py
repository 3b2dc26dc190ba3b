"""Retrieve in a LangGraph graph: `python examples/retriever_node.py FILE WORDS...`.

Needs the extra `langgraph`, no model and no network.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TypedDict

from langgraph.graph import START, StateGraph

from recall_core import RecallError
from recall_core.interfaces import (
    Document,
    FileLoader,
    Indexer,
    InMemoryVectorStore,
    ModelEmbedding,
    Retriever,
    TextSplitter,
)
from recall_core.interfaces.langgraph import retriever_node
from recall_core.steps import ChunkPolicy


class State(TypedDict, total=False):
    """State of the graph."""

    query: str
    retrieved_docs: list[Document]
    answer: str


def answer(state: State) -> dict[str, str]:
    """Return the best document's text as the answer. A model would write one."""
    return {"answer": next((each.content.strip() for each in state["retrieved_docs"]), "Nothing found.")}


def main(path: str, *words: str) -> int:
    """Print the answer and the time of the graph. Return the exit code."""
    try:
        embedding, store = ModelEmbedding("hash"), InMemoryVectorStore()
        pieces = TextSplitter(ChunkPolicy(chunk_tokens=60, overlap_tokens=0)).split(FileLoader(path).load())
        Indexer(embedding, store).index(pieces)
        building = StateGraph(State)
        building.add_node("retrieve", retriever_node(Retriever(embedding, store, k=3)))
        building.add_node("answer", answer)
        building.add_edge(START, "retrieve")
        building.add_edge("retrieve", "answer")
        started = perf_counter()
        print(building.compile().invoke({"query": " ".join(words)})["answer"])
        print(f"{1000 * (perf_counter() - started):.0f} ms")
    except RecallError as error:
        print(f"{error.message} Try: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
