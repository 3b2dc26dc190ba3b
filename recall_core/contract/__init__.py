"""The JSON contract: every response's shape. The shipped JSON Schema is generated from these types.

Keys appear in the order in which they are declared. New keys may be added; none changes its meaning within
schema_version 1. Keys that do not concern a command are left out. Here is what a response begins with; `responses`
has a type for what each command answers, and the other modules what those are made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from recall_core._lazy import attach

if TYPE_CHECKING:
    from recall_core.contract import views
    from recall_core.contract.responses import AnyResponse, Head, Response
else:
    __getattr__ = attach(__name__)

SCHEMA_VERSION = "1"


OK: Head = {"ok": True, "schema_version": SCHEMA_VERSION}


def response_of(answer: AnyResponse) -> Response:
    """An answer for those who look at whatever it holds."""
    return cast("Response", answer)
