"""The JSON contract: the shape of every response. The packaged JSON Schema is generated from these types.

Within schema_version 1, keys may be added but never change their meaning. A response leaves out keys that do not
apply to its command. `responses` has one type per command; the other modules have the types of its parts. The
description of a field is below it. Shared fields are inherited, so each is described once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from recall_core._lazy import attach

if TYPE_CHECKING:
    from recall_core.contract import agents, views
else:
    __getattr__ = attach(__name__)

SCHEMA_VERSION = "1"


class Head(TypedDict):
    """The first keys of every response."""

    ok: bool
    """False if and only if there is an `error`."""
    schema_version: str
    """Version of this contract."""


OK: Head = {"ok": True, "schema_version": SCHEMA_VERSION}
