"""A rechunked store equals one that was chunked that way from the start, for any content."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import CUTTING, Config
from recall_core.embed.trust import FoundSettings
from recall_core.maintain.rechunk import rechunk
from recall_core.maintain.transfer import export
from recall_core.store.sqlite.check import counts, fulltext, slices, tokens
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root
from tests.examples import examples
from tests.ingest_folder import IngestFolder
from tests.property.test_chunk import CONFIGS, TEXTS

NAMES = st.sampled_from(("a.txt", "b.md", "deep/c.markdown", "d.py", "色.txt"))
TITLES = st.text(max_size=8) | st.just("The title of it")
STORABLE = TEXTS.map(lambda text: text.encode(errors="ignore").decode().replace("\0", ""))
RECORDS = st.lists(st.tuples(STORABLE, TITLES), max_size=4)
LIMITS = st.builds(
    lambda config, counting: config._replace(counter=counting), CONFIGS, st.sampled_from(("whitespace", "approx"))
)


def _written(base: Path, files: Mapping[str, str], records: list[tuple[str, str]]) -> None:
    lines = [json.dumps({"text": text, "title": title, "n": n}) for n, (text, title) in enumerate(records)]
    for name, text in {**files, "records/e.jsonl": "".join(f"{line}\n" for line in lines)}.items():
        (base / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "docs" / name).write_bytes(text.encode())


def _read(base: Path, config: Config) -> IngestFolder:
    folder = IngestFolder(base)
    folder.config = config
    folder.store = folder.empty_store(counter=config.counter)
    folder.ingest("docs", template=Root("", ignores=("records/**",), tags=("t",), source="s"))
    folder.ingest("docs/records", template=Root("", parser="jsonl", meta=(("k", 1),)))
    return folder


def _export_text(store: SqliteStore) -> str:
    out = StringIO()
    export(store, out)
    return out.getvalue()


@given(st.dictionaries(NAMES, STORABLE), RECORDS, LIMITS, LIMITS)
@examples(5)
def test_rechunked_store_exports_like_a_fresh_store(
    files: dict[str, str], records: list[tuple[str, str]], before: Config, wanted: Config
) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        _written(base, files, records)
        folder, fresh = _read(base, before), _read(base, wanted)
        toml = base / "recall.toml"

        named = {key: getattr(wanted, key) for key in CUTTING}
        found = FoundSettings(before, toml, is_vouched=True)
        for _ in rechunk(folder.store, named, found=found, toml=toml, own=lambda: folder.embedder):
            pass

        assert _export_text(folder.store) == _export_text(fresh.store)
        for check in (counts, fulltext, slices, tokens):
            assert check(folder.store).severity == "ok"
        folder.config = wanted
        assert folder.sync().unchanged == len(files) + 1
