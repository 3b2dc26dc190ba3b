"""Load a file, split it, index it in memory, and ask: `python examples/index_and_query.py FILE WORDS...`.

Needs no model and no network. PDFs need the extra `pdf`.
"""

from __future__ import annotations

import sys

from recall_core import RecallError
from recall_core.interfaces import FileLoader, Indexer, InMemoryVectorStore, ModelEmbedding, Retriever, TextSplitter
from recall_core.steps import ChunkPolicy


def main(path: str, *words: str) -> int:
    """Print the best three pieces of the file with their scores. Return the exit code."""
    try:
        pieces = TextSplitter(ChunkPolicy(chunk_tokens=60, overlap_tokens=0)).split(FileLoader(path).load())
        embedding, store = ModelEmbedding("hash"), InMemoryVectorStore()
        Indexer(embedding, store).index(pieces)
        for found in Retriever(embedding, store, k=3).retrieve(" ".join(words)):
            print(f"{found.score:.3f}  {found.document.id}\n{found.document.content.strip()}\n")
    except RecallError as error:
        print(f"{error.message} Try: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
