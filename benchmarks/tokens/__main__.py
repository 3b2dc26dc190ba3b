"""What the estimate of model tokens is fitted to and held against. `python -m benchmarks.tokens COMMAND`.

fit: learns the weights from texts of this machine, and writes `recall_core/model_tokens/costs.py`.
golden: counts the texts of `tests/golden/tokens` anew. told: how far the estimate is from each vocabulary there.
contexts STORE: what contexts of 4,000 tokens count by each vocabulary.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import reload
from pathlib import Path

from benchmarks.tokens import contexts, fit, golden
from benchmarks.tokens.corpus import samples
from benchmarks.tokens.vocabularies import LARGEST, vocabularies

_COSTS = Path(__file__).parents[2] / "recall_core" / "model_tokens" / "costs.py"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokens", description=__doc__)
    parser.add_argument("command", choices=("fit", "golden", "told", "contexts"))
    parser.add_argument("store", nargs="?", type=Path, help="whose contexts are counted")
    options = parser.parse_args(argv)
    if options.command == "told":
        print(golden.told())
        return 0
    try:
        counts = vocabularies()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        print(f"{error}: python -m pip install --no-deps wordllama litellm mistral-common; … tokenizers tiktoken")
        return 0
    if options.command == "fit":
        learn()
    elif options.command == "golden":
        golden.write(counts)
    elif options.store is None:
        parser.error("contexts needs a STORE")
    else:
        print(contexts.told(options.store, counts))
    return 0


def learn() -> None:
    """Writes the weights twice: what scripts cost is what remains of their texts beside all else."""
    from recall_core import model_tokens  # noqa: PLC0415 - loaded again once the weights are written
    from recall_core.model_tokens import costs  # noqa: PLC0415 - as above

    counts, found = vocabularies(), samples()
    words = fit.words(found, counts)
    common = fit.common_words(words, counts[LARGEST])
    pairs = fit.pair_weights(words, common)
    whole = fit.whole_characters(counts[LARGEST])
    fit.write(_COSTS, pairs, common, [(first, last, 0) for first, last in fit.SCRIPTS], whole)
    reload(costs)
    scripts = fit.script_costs(found, counts, reload(model_tokens).model_tokens)
    fit.write(_COSTS, pairs, common, scripts, whole)


if __name__ == "__main__":
    sys.exit(main())
