"""Ingest: files become documents and chunks, as a stream of Progress events."""
