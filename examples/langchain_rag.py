"""Answer from your files with LangChain's parts: `python examples/langchain_rag.py FOLDER WORDS...`.

Needs the extra `langchain`, no model and no network: the last step prints the prompt that a model would get.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnablePassthrough

from recall_core import Recall, RecallError
from recall_core.interfaces.langchain import RecallRetriever

PROMPT = PromptTemplate.from_template(
    "Answer from these passages, and cite them.\n\n{passages}\n\nQuestion: {question}"
)


def cite(found: list[Document]) -> str:
    """Return the passages, each below its path and lines."""
    lines = [(each.metadata["path"], *each.metadata["lines"], each.metadata["passage"]) for each in found]
    return "\n\n".join(f"{path}:{first}-{last}\n{text}" for path, first, last, text in lines)


def main(folder: str, *words: str) -> int:
    """Print the prompt for a question about a folder. Return the exit code."""
    try:
        with TemporaryDirectory() as made:
            store = str(Path(made, "library.db"))
            with Recall.open(store, create=True) as recall:
                recall.index(folder)
            retriever = RecallRetriever(store=store, k=3)
            chain = {"passages": retriever | cite, "question": RunnablePassthrough()} | PROMPT
            print(chain.invoke(" ".join(words)).to_string())
            retriever.close()
    except RecallError as error:
        print(f"{error.message} Try: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
