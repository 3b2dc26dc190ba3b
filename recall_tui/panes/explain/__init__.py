"""Pane 3: why the selected hit has its score, and why something else is missing."""

from recall_tui.panes.explain.pane import ExplainPane

__all__ = ["ExplainPane"]
