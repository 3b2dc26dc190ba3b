"""The embedder that speaks Gemini's wire format, which tells questions from documents."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from recall_core.embed.providers.remote import RemoteKind, RemoteModel


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
