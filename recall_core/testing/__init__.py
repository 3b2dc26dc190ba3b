"""Conformance suites for counters, embedders, parsers, rerankers and stores, as test classes to subclass."""

from recall_core.testing.embedders import (
    CounterConformance,
    DeterministicEmbedderConformance,
    EmbedderConformance,
    RerankerConformance,
)
from recall_core.testing.parsers import ParserConformance
from recall_core.testing.stores import CareConformance, SearchConformance, StoreConformance, WriteConformance

__all__ = [
    "CareConformance",
    "CounterConformance",
    "DeterministicEmbedderConformance",
    "EmbedderConformance",
    "ParserConformance",
    "RerankerConformance",
    "SearchConformance",
    "StoreConformance",
    "WriteConformance",
]
