"""Settings accepted by `init --set` read back equal from recall.toml."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from recall_core.config import FILE_NAME, SETTINGS, Config, assign, load, render
from recall_core.errors import ConfigError

ODD = (
    "\\",
    "\\n",
    "\\x0b",
    "\\f",
    "\\x00",
    "\x7f",
    '"',
    '"""',
    "'",
    "#",
    "=",
    "\r\n",
    "{n}",
    "{",
    "é",
    "\ud800",
    "\u2028",
)
typed = st.one_of(
    st.text(),
    st.lists(st.sampled_from(ODD), max_size=6).map("".join),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(("true", "off", "hash", "any", "rrf", "bm25f", "optimal")),
)


@given(st.dictionaries(st.sampled_from(sorted(SETTINGS)), typed, max_size=4))
@example({"separator": "\\x0b"})
@example({"separator": "\\f"})
@example({"store_path": "a\\b.db"})
@example({"separator": "\\x7f\r\n\\\\n"})
def test_accepted_settings_read_back_equal(values: dict[str, str]) -> None:
    try:
        config = assign(Config(), [f"{key}={text}" for key, text in values.items()], where="--set")
    except ConfigError:
        return
    with TemporaryDirectory() as folder:
        toml = Path(folder) / FILE_NAME
        toml.write_text(render(config), encoding="utf-8")

        assert load(toml) == config
