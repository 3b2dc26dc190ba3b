"""The JSON contract: every response's shape. The shipped JSON Schema is generated from these types.

New keys may be added; none changes its meaning within schema_version 1. Keys that do not concern a command are left
out. Here is what a response begins with; `responses` has a type for what each command answers, and the other modules
have the types that those are made of. The meaning of a field is written below it, once: a type inherits what it
shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from recall_core._lazy import attach

if TYPE_CHECKING:
    from recall_core.contract import views
else:
    __getattr__ = attach(__name__)

SCHEMA_VERSION = "1"


class Head(TypedDict):
    """What every answer begins with."""

    ok: bool
    """False exactly when there is an `error`."""
    schema_version: str
    """The version of this contract."""


OK: Head = {"ok": True, "schema_version": SCHEMA_VERSION}
