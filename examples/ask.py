"""Index a folder, search it, and pack the results into a context: `python examples/ask.py FOLDER WORDS...`.

The store is library.db in the current folder. Its settings are in recall.toml next to it.
"""

from __future__ import annotations

import sys

from recall_core import Recall, RecallError


def main(folder: str, *words: str) -> int:
    """Print the best three chunks and a context of at most 200 tokens. Return the exit code of the command line."""
    question = " ".join(words)
    try:
        with Recall.open("library.db", create=True) as recall:
            recall.index(folder)
            for hit in recall.search(question, k=3)["results"]:
                print(f"{hit['score']:.3f}  {hit['doc']['path']}:{hit['chunk']['line_start']}")
            print(recall.context(question, budget_tokens=200)["context"]["text"])
    except RecallError as error:
        print(f"{error.message} Try: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
