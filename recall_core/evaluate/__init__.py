"""Is the ranking good, and is it better: judgements, measures, fixtures and their verdicts."""
