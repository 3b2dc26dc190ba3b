"""Fit and check the estimate of model tokens. `python -m benchmarks.tokens COMMAND`.

fit: learn the weights from texts of this machine, and write `recall_core/model_tokens/costs.json`.
golden: count the texts of `tests/golden/tokens` and write the counts.
told: print how far the estimate is from each vocabulary for these texts.
contexts STORE: print how many tokens contexts of 4,000 have by each vocabulary.
modern FOLDER: print how far `approx:modern` is from the vocabularies of a folder, in the golden texts or --texts.
modern-fit FOLDER: write `recall_core/model_tokens/pieces.json`.
modern-golden FOLDER: count the golden texts with the vocabularies of a folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import reload
from pathlib import Path

from benchmarks.tokens import contexts, fit, golden, modern
from benchmarks.tokens.corpus import samples
from benchmarks.tokens.vocabularies import LARGEST, vocabularies

_COSTS = Path(__file__).parents[2] / "recall_core" / "model_tokens" / "costs.json"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokens", description=__doc__)
    parser.add_argument(
        "command", choices=("fit", "golden", "told", "contexts", "modern", "modern-fit", "modern-golden")
    )
    parser.add_argument("folder", nargs="?", type=Path, help="store for contexts, or folder of vocabularies")
    parser.add_argument("--texts", type=Path, default=golden.FOLDER, help="folder of KIND/NAME.txt")
    options = parser.parse_args(argv)
    if options.command == "told":
        print(golden.report())
        return 0
    if options.command.startswith("modern"):
        print(about_modern(options.command, options.folder or Path("vocabularies"), options.texts))
        return 0
    try:
        counts = vocabularies()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        print(
            f"{error}. Run: pip install --no-deps wordllama litellm mistral-common; pip install tokenizers tiktoken"
        )
        return 0
    if options.command == "fit":
        learn()
    elif options.command == "golden":
        golden.write(counts)
    elif options.folder is None:
        parser.error("contexts needs a STORE")
    else:
        print(contexts.report(options.folder, counts))
    return 0


def about_modern(command: str, folder: Path, texts: Path) -> str:
    """Return the table of `approx:modern`. Write its pieces or golden counts first if the command says so."""
    try:
        counts = modern.vocabularies(folder)
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return f"{error}. {modern.__doc__}"
    if command == "modern-fit":
        modern.learn(_COSTS.with_name("pieces.json"), folder, counts, samples())
    elif command == "modern-golden":
        golden.write(counts, golden.MODERN)
    return modern.report(modern.texts_of(texts), counts)


def learn() -> None:
    """Write the weights twice: the cost of a script is the rest of its texts' cost after all other weights."""
    from recall_core import model_tokens  # noqa: PLC0415 - reloaded after the weights are written

    counts, found = vocabularies(), samples()
    words = fit.words(found, counts)
    common = fit.common_words(words, counts[LARGEST])
    pairs = fit.pair_weights(words, common)
    whole = fit.whole_characters(counts[LARGEST])
    fit.write(_COSTS, pairs, common, [(first, last, 0) for first, last in fit.SCRIPTS], whole)
    scripts = fit.script_costs(found, counts, reload(model_tokens).model_tokens)
    fit.write(_COSTS, pairs, common, scripts, whole)


if __name__ == "__main__":
    sys.exit(main())
