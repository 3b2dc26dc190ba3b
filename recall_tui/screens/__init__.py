"""The screens, one module each."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_tui.screens import dialog, help, history, line, target, welcome
else:
    __getattr__ = attach(__name__)
