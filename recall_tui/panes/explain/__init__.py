"""Pane 3: why the selected hit has its score, and why something else has no place beside it."""

from recall_tui.panes.explain.pane import ExplainPane

__all__ = ["ExplainPane"]
