"""The analyses: for each kind a function `(run, analysis)` that returns its result."""
