"""One module a pane."""
