"""Benchmarks that compare Recall with peers in one run. The ratios matter, not the seconds."""
