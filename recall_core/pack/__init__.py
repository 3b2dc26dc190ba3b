"""Packing: ranked hits become one text under a token budget."""

from recall_core.pack.greedy import pack

__all__ = ["pack"]
