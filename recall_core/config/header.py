"""The line above a block of a context, as recall.toml says it."""

import re
from string import Formatter

from recall_core.errors import ConfigError

WIDEST = 1_000  # characters that a header pads one of its values to, or digits that it gives a number


def check_header(header: str, *, where: str) -> None:
    """Raises ConfigError `bad_value` for a header that cannot be filled in, or asks for too much."""
    hint = "header = '[{n}] {path}:{lines}'"
    try:
        specs = [spec for _, _, spec, _ in Formatter().parse(header) if spec]
        if any("{" in spec or any(int(run) > WIDEST for run in re.findall(r"\d+", spec)) for spec in specs):
            message = f"{where}: header {header[:80]!r} asks for more than {WIDEST:,} characters of one value."
            raise ConfigError("bad_value", message, hint=hint)
        header.format(n=1, path="p", lines="1-2", title="t", heading="h")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigError("bad_value", f"{where}: header {header[:80]!r} cannot be filled in.", hint=hint) from error
