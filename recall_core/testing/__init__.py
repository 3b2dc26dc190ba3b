"""Conformance suites: what an embedder, a parser and a store must keep to, as classes that an author subclasses."""

from recall_core.testing.embedders import DeterministicEmbedderConformance, EmbedderConformance
from recall_core.testing.parsers import ParserConformance
from recall_core.testing.stores import StoreConformance

__all__ = ["DeterministicEmbedderConformance", "EmbedderConformance", "ParserConformance", "StoreConformance"]
