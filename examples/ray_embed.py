"""Index a folder with vectors computed on a Ray cluster: `python examples/ray_embed.py FOLDER STORE [ADDRESS]`.

Needs the package `ray` here, and Recall on every node. Without ADDRESS, Ray starts on this machine. Ray computes the
texts of a node that is lost on another one. On one machine, `recall add --executor process` is faster.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import ray

from recall_core import Recall, RecallError
from recall_core.embed.registry import embedder_of
from recall_core.ports import Embedder

TEXTS = 32  # for each task: a lost node repeats no more


@ray.remote(max_retries=-1)
def embed(identity: str, texts: Sequence[str], is_query: bool) -> list[bytes]:
    """Return one vector per text, computed where Ray runs this task."""
    return embedder_of(identity).embed(texts, is_query=is_query)


class OnRay:
    """Computes the vectors of an embedder on the nodes of a cluster."""

    def __init__(self, embedder: Embedder) -> None:
        self.identity, self.dimension, self.max_input = embedder.identity, embedder.dimension, embedder.max_input
        self.windows = embedder.windows

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[bytes]:
        """Return one vector per text, in order."""
        parts = [texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS)]
        tasks = [embed.remote(self.identity, part, is_query) for part in parts]
        return [vector for vectors in ray.get(tasks) for vector in vectors]


def main(folder: str, store: str, address: str | None = None) -> int:
    """Index the folder and print the number of its chunks. Return the exit code."""
    ray.init(address, log_to_driver=False)
    try:
        with Recall.open(store, create=True) as recall:
            recall.engine.use_embedder(OnRay(recall.engine.embedder))
            recall.index(folder)
            print(f"{recall.store.info().chunks} chunks")
    except RecallError as error:
        print(f"{error.message} Try: {error.hint}", file=sys.stderr)
        return error.exit_code
    finally:
        ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
