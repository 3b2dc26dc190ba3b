"""Recall: a local-first hybrid search database for documents, in one SQLite file."""

__version__ = "0.1.0"
