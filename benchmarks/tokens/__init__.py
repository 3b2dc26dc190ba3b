"""Fit and check the token estimate of the budget against the vocabularies of language models."""
