"""The API: one store, with one method per command."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.api import agents, answers, collections, compare, engine, get, recall, report, whynot, write
else:
    __getattr__ = attach(__name__)
