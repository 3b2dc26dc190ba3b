"""Embedders: text becomes unit vectors."""
