"""How fast Recall is beside its peers, all in one run: `python -m benchmarks.speed`."""
