"""The panes, one module each."""
