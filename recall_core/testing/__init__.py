"""Conformance suites for embedders, parsers and stores, as test classes to subclass."""

from recall_core.testing.embedders import DeterministicEmbedderConformance, EmbedderConformance
from recall_core.testing.parsers import ParserConformance
from recall_core.testing.stores import StoreConformance

__all__ = ["DeterministicEmbedderConformance", "EmbedderConformance", "ParserConformance", "StoreConformance"]
