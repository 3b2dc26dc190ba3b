"""Embedders that ask a model server or a model package: OpenAI-compatible, Gemini, sentence-transformers."""
