"""Which weights are better: judged queries, or what one answer must hold, put to the exact sweep."""
