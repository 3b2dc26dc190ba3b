"""Evaluation of a ranking: judgements, measures, fixtures and their verdicts."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.evaluate import (
        calibrate,
        figures,
        formats,
        judgements,
        measures,
        questions,
        run,
        tune,
        tune_question,
    )
else:
    __getattr__ = attach(__name__)
