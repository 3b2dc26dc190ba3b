"""The conformance suite as data: a corpus, questions and their answers, one folder per version."""
