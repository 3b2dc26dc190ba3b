"""Is the ranking good, and is it better: judgements, measures, fixtures and their verdicts."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.evaluate import (
        calibrate,
        compare,
        figures,
        formats,
        grid,
        judgements,
        measures,
        options,
        questions,
        run,
        tune,
        tune_question,
        units,
    )
else:
    __getattr__ = attach(__name__)
