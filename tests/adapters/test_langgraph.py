"""The node for LangGraph, in graphs with a mapping, a dataclass and a model as state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

import pytest

pytest.importorskip("langgraph", reason="needs the extra langgraph")

from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, ConfigDict

from recall_core.errors import RecallError
from recall_core.interfaces import (
    Document,
    Eq,
    Indexer,
    ModelEmbedding,
    Retriever,
    VectorStore,
)
from recall_core.interfaces.langgraph import retriever_node

NOTES = (
    Document("deploy", "Undo a deploy with the flag --undo.", {"team": "ops"}),
    Document("cake", "Bake the cake for an hour.", {"team": "kitchen"}),
)


class Keyed(TypedDict, total=False):
    query: Any
    metadata_filter: Any
    retrieved_docs: list[Document]
    answer: str


@dataclass
class Classed:
    query: Any = ""
    metadata_filter: Any = None
    retrieved_docs: list[Document] = field(default_factory=list)
    answer: str = ""


class Modelled(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    query: Any = ""
    metadata_filter: Any = None
    retrieved_docs: list[Any] = []
    answer: str = ""


@pytest.fixture
def graph(store: VectorStore) -> Callable[[type], Any]:
    """Return how to compile a graph of two nodes: retrieve, then cite."""
    embedding = ModelEmbedding("hash")
    Indexer(embedding, store).index(NOTES)

    def cite(state: Any) -> dict[str, str]:
        found = state["retrieved_docs"] if isinstance(state, dict) else state.retrieved_docs
        return {"answer": ",".join(each.id for each in found)}

    def compiled(kind: type) -> Any:
        building = StateGraph(kind)
        building.add_node("retrieve", retriever_node(Retriever(embedding, store, k=1)))
        building.add_node("cite", cite)
        building.add_edge(START, "retrieve")
        building.add_edge("retrieve", "cite")
        building.add_edge("cite", END)
        return building.compile()

    return compiled


@pytest.mark.parametrize("kind", [Keyed, Classed, Modelled])
def test_second_node_reads_the_retrieved_documents(graph: Callable[[type], Any], kind: type) -> None:
    done = graph(kind).invoke({"query": "undo deploys", "retrieved_docs": [NOTES[1]]})

    assert [each.id for each in done["retrieved_docs"]] == ["deploy"]
    assert done["answer"] == "deploy"


@pytest.mark.parametrize("kind", [Keyed, Classed, Modelled])
@pytest.mark.parametrize(
    ("wanted", "answer"), [(Eq("team", "kitchen"), "cake"), ({"team": {"$ne": "ops"}}, "cake"), (Eq("team", "x"), "")]
)
def test_state_filters_the_documents(graph: Callable[[type], Any], kind: type, wanted: Any, answer: str) -> None:
    assert graph(kind).invoke({"query": "undo deploys", "metadata_filter": wanted})["answer"] == answer


async def test_graph_runs_awaited(graph: Callable[[type], Any]) -> None:
    assert (await graph(Keyed).ainvoke({"query": "undo deploys"}))["answer"] == "deploy"


@pytest.mark.parametrize(
    ("state", "code"),
    [({"query": 1}, "bad_value"), ({"query": "undo", "metadata_filter": {"team": {"$near": 1}}}, "unknown_filter")],
)
def test_error_ends_the_graph(graph: Callable[[type], Any], state: dict[str, Any], code: str) -> None:
    with pytest.raises(RecallError) as error:
        graph(Keyed).invoke(state)

    assert error.value.code == code
