"""Data that outlasts a session: history, layout, keys and crash reports, in the user's own folders."""

from recall_core._lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_tui.home import crash, keymap
else:
    __getattr__ = attach(__name__)
