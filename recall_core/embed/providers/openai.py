"""Embedders that speak a provider's wire format: OpenAI and what serves its format, and Gemini."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from recall_core.embed.providers.remote import RemoteKind, RemoteModel


class OpenAIDialect:
    """POST {url}/embeddings with `input`; the answer's `data` tells each vector's `index`."""

    def path(self, model: str) -> str:
        """Behind the server's address; the model stands in the body."""
        return "/embeddings"

    def headers(self, key: str) -> dict[str, str]:
        """How a key is shown."""
        return {"Authorization": f"Bearer {key}"}

    def body(self, model: str, texts: Sequence[str], *, is_query: bool) -> object:
        """The request for these texts; questions are asked like documents."""
        named = {"model": model} if model else {}
        return {**named, "input": list(texts), "encoding_format": "float"}

    def rows(self, answer: object) -> list[object]:
        """Components of every text by `index`; where no index is told, the order counts."""
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("data is not a list of vectors")
        by_index = {entry.get("index", i): entry.get("embedding") for i, entry in enumerate(entries)}
        if set(by_index) != set(range(len(entries))):
            raise ValueError("index does not count its vectors")
        return [by_index[i] for i in range(len(entries))]

    def tokens(self, answer: object) -> int:
        """`usage.total_tokens`, 0 where it is not told."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        total = usage.get("total_tokens") if isinstance(usage, dict) else None
        return total if isinstance(total, int) else 0


OPENAI = RemoteKind(
    name="openai",
    purpose="OpenAI's models, or any server with the same interface at embedding_url",
    provider="OpenAI",
    url="https://api.openai.com/v1",
    model="text-embedding-3-small",
    models={
        "text-embedding-3-small": RemoteModel(1536, 8191),
        "text-embedding-3-large": RemoteModel(3072, 8191),
        "text-embedding-ada-002": RemoteModel(1536, 8191),
    },
    other=RemoteModel(None, 8191),
    variables=("OPENAI_API_KEY",),
    batch_texts=64,
    dialect=OpenAIDialect(),
)
OLLAMA = RemoteKind(
    name="ollama",
    purpose="a model that Ollama runs on this machine",
    provider="Ollama",
    url="http://127.0.0.1:11434/v1",
    model="nomic-embed-text",
    models={
        "nomic-embed-text": RemoteModel(768, 2048),
        "mxbai-embed-large": RemoteModel(1024, 512),
        "all-minilm": RemoteModel(384, 256),
    },
    other=RemoteModel(None, 512),
    variables=(),
    batch_texts=16,
    dialect=OpenAIDialect(),
)
LLAMACPP = RemoteKind(
    name="llamacpp",
    purpose="a model that llama.cpp's server runs on this machine",
    provider="llama.cpp",
    url="http://127.0.0.1:8080/v1",
    model="",
    models={},
    other=RemoteModel(None, 512),  # what its server takes at once unless it was started with a larger --ubatch-size
    variables=(),
    batch_texts=16,
    dialect=OpenAIDialect(),
)


class GeminiDialect:
    """POST {url}/models/{model}:batchEmbedContents with one request a text; the answer has `embeddings` in order."""

    def path(self, model: str) -> str:
        """Behind the server's address."""
        return f"/models/{quote(model, safe='')}:batchEmbedContents"

    def headers(self, key: str) -> dict[str, str]:
        """How a key is shown."""
        return {"x-goog-api-key": key}

    def body(self, model: str, texts: Sequence[str], *, is_query: bool) -> object:
        """The request for these texts."""
        task = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        return {
            "requests": [
                {"model": f"models/{model}", "content": {"parts": [{"text": text}]}, "taskType": task}
                for text in texts
            ]
        }

    def rows(self, answer: object) -> list[object]:
        """Components of every text, in order."""
        entries = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("embeddings is not a list of vectors")
        return [entry.get("values") for entry in entries]

    def tokens(self, answer: object) -> int:
        """Always 0: Gemini does not tell."""
        return 0


GEMINI = RemoteKind(
    name="gemini",
    purpose="Google's Gemini models",
    provider="Gemini",
    url="https://generativelanguage.googleapis.com/v1beta",
    model="gemini-embedding-001",
    models={"gemini-embedding-001": RemoteModel(3072, 2048)},
    other=RemoteModel(None, 2048),
    variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    batch_texts=100,  # the most that it takes
    dialect=GeminiDialect(),
)
