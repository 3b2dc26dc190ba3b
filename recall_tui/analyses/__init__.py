"""What each kind of analysis does: for each a function `(run, analysis)` that gives its result."""
