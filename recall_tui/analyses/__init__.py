"""What each kind of analysis does: a function `(lab, analysis)` a kind that gives its result."""
