"""Conformance suites: what an embedder and a store must keep to, as test classes that an author subclasses."""

from recall_core.testing.embedders import DeterministicEmbedderConformance, EmbedderConformance
from recall_core.testing.stores import StoreConformance

__all__ = ["DeterministicEmbedderConformance", "EmbedderConformance", "StoreConformance"]
