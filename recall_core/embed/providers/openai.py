"""Embedders with a provider's wire format: OpenAI and compatible servers, and Gemini."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from recall_core.embed.providers.remote import RemoteKind, RemoteModel


class OpenAIDialect:
    """POST {url}/embeddings with `input`; each vector in the answer's `data` has an `index`."""

    def path(self, model: str) -> str:
        """Return the path below the server's address; the model is in the body."""
        return "/embeddings"

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {key}"}

    def body(self, model: str, texts: Sequence[str], *, is_query: bool) -> object:
        """Return the request for these texts. Queries and documents are treated the same."""
        named = {"model": model} if model else {}
        return {**named, "input": list(texts), "encoding_format": "float"}

    def rows(self, answer: object) -> list[object]:
        """Return the components of each text by `index`, or in order if there is no index."""
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("data is not a list of vectors")
        by_index = {entry.get("index", i): entry.get("embedding") for i, entry in enumerate(entries)}
        if set(by_index) != set(range(len(entries))):
            raise ValueError("index does not number its vectors")
        return [by_index[i] for i in range(len(entries))]

    def tokens(self, answer: object) -> int:
        """Return `usage.total_tokens`, 0 if it is missing."""
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
    other=RemoteModel(None, 512),  # the server's default batch size; --ubatch-size sets a larger one
    variables=(),
    batch_texts=16,
    dialect=OpenAIDialect(),
)


class GeminiDialect:
    """POST {url}/models/{model}:batchEmbedContents with one request per text; `embeddings` are in order."""

    def path(self, model: str) -> str:
        """Return the path below the server's address."""
        return f"/models/{quote(model, safe='')}:batchEmbedContents"

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"x-goog-api-key": key}

    def body(self, model: str, texts: Sequence[str], *, is_query: bool) -> object:
        """Return the request for these texts."""
        task = "RETRIEVAL_QUERY" if is_query else "RETRIEVAL_DOCUMENT"
        return {
            "requests": [
                {"model": f"models/{model}", "content": {"parts": [{"text": text}]}, "taskType": task}
                for text in texts
            ]
        }

    def rows(self, answer: object) -> list[object]:
        """Return the components of each text, in order."""
        entries = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError("embeddings is not a list of vectors")
        return [entry.get("values") for entry in entries]

    def tokens(self, answer: object) -> int:
        """Return 0: Gemini does not report tokens."""
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
    batch_texts=100,  # the server's limit
    dialect=GeminiDialect(),
)
