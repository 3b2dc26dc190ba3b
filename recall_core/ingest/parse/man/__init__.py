"""Manual pages: man(7) and mdoc(7)."""

from recall_core.ingest.parse.man.kinds import is_man

__all__ = ["is_man"]
