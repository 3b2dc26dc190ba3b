"""Compare the speed of Recall with its peers in one run: `python -m benchmarks.speed`."""
