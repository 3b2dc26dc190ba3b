"""Thin ways in: each parses a request, calls one method of Recall and prints one Response."""
