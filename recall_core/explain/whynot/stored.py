"""The stages before any question: is it known, read as it is on disk, live, and in the indexes?

Of a file that is not in the store, the rules of ingest are asked why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recall_core import shell
from recall_core.config import Config
from recall_core.errors import IngestError, UsageError
from recall_core.explain.whynot.stage import STAGES, Stage, failed, passed, passed_over
from recall_core.explain.whynot.target import Sought, Target
from recall_core.ingest import ignore
from recall_core.ingest.discover import NEVER_READ, Found, find_one, matches_any, printable, single
from recall_core.ingest.parse import is_earlier
from recall_core.ingest.read import read_by, read_raw
from recall_core.ingest.reader import FileReader
from recall_core.paths import path_of, typed
from recall_core.retrieve.asking import Asker
from recall_core.retrieve.freshness import stale_documents
from recall_core.retrieve.plan import Plan
from recall_core.shell import Hint, flag
from recall_core.text import nfc
from recall_core.types import Fingerprint, Root, Row, Skip


def absent_stages(asker: Asker, target: Target) -> list[Stage]:
    """Every stage for a target of which the store holds no chunk."""
    stage, outcome = _absent(asker, target)
    stages = {name: passed_over(name, "there is no chunk to look at") for name in STAGES}
    stages["identify"] = passed("identify", f"{target.text} names a {target.kind}")
    if stage != "ingested":
        stages["ingested"] = passed("ingested", f"{target.path} was read")
    stages[stage] = outcome
    return list(stages.values())


def _absent(asker: Asker, target: Target) -> tuple[str, Stage]:
    if target.absent == "tombstoned":
        detail = f"{target.path} was removed from the store"
        return "live", failed("live", "tombstoned", detail, hint=Hint("add", typed(asker.base / target.path)))
    if target.absent == "not_indexed":
        return "indexed", _without_text(asker, target.path)
    reason = why_not_ingested(asker, target.path)
    evidence = {"rules": list(reason.rules)}
    return "ingested", failed("ingested", "not_ingested", reason.detail, evidence, hint=reason.hint)


def _without_text(asker: Asker, path: str) -> Stage:
    """A document without a chunk; an earlier version of its parser may have passed over what it holds."""
    files = asker.store.sources([asker.store.document_at(path) or ""]).values()
    detail = f"{path} is empty: it has no chunk"
    if any(file.os_path and is_earlier(read_by(file.settings)) for file in files):
        detail = f"{path} has no chunk, and was read by an earlier version of its parser"
        return failed("indexed", "not_indexed", detail, hint=Hint("sync"))
    return failed("indexed", "not_indexed", detail)


def stored_stages(asker: Asker, target: Target, sought: Sought, plan: Plan, *, is_listed: bool) -> Iterator[Stage]:
    """identify, ingested, fresh, live, vector, indexed. is_listed: it needs no vector to have its place."""
    row = sought.row
    where = row.where
    others = f", the best ranked of {len(target.rows)} chunks" if len(target.rows) > 1 else ""
    yield passed("identify", f"{where}{others}")
    yield passed("ingested", f"{row.doc.path} was read")
    yield _fresh(asker, row)
    yield passed("live", "it was not removed")
    if plan.semantic is None:
        yield passed_over("vector", "the question does not ask for meaning")
    elif asker.store.vectors([row.rowid]):
        yield passed("vector", "it has a vector")
    elif is_listed:
        yield passed("vector", "it has no vector, and it has its place without")
    else:
        yield failed("vector", "no_vector", "its text has no feature that the embedder knows")
    if asker.store.is_indexed(row.rowid):
        yield passed("indexed", "the full-text index holds it")
    else:
        detail = "the full-text index does not hold it"
        yield failed("indexed", "not_indexed", detail, hint=Hint("doctor", fix=True))


def _fresh(asker: Asker, row: Row) -> Stage:
    state = stale_documents([row.doc.id], store=asker.store, base=asker.base).get(row.doc.id)
    if state is None:
        return passed("fresh", "the file is as it was read")
    detail = f"{row.doc.path} is {state} since it was read"
    hint: str | None = Hint("sync")
    file = asker.store.sources([row.doc.id])[row.doc.id]
    if state == "modified" and (reason := why_not_read_again(asker, file)):
        detail, hint = f"{detail}; a sync leaves it so: {reason.detail}", reason.hint
    return failed("fresh", "stale", detail, {"state": state}, hint=hint)


class Reason(NamedTuple):
    """Which rules keep a file out, in a sentence and one by one, and what to type, where anything helps."""

    detail: str
    rules: tuple[str, ...]
    hint: str | None


def why_not_ingested(asker: Asker, path: str) -> Reason:
    """What the newest root that covers the file says of it, or that none does."""
    place = Path(path)
    name = path_of(place, asker.base)
    covering = [root for root in asker.store.roots() if _is_under(root, name)]
    if not covering:
        detail = f"no folder or file that was added covers {printable(name)}"
        alone = Root(name)
        found = single(alone, asker.base)
        unread = _by_content(alone, place, name, asker.config) if isinstance(found, Found) else None
        if unread is not None and unread.rules != ("not_synced",):
            return Reason(f"{detail}, and {unread.detail}", ("no_root", *unread.rules), unread.hint)
        return Reason(detail, ("no_root",), Hint("add", typed(place)))
    return _by_root(covering[-1], place, name, asker)


def why_not_read_again(asker: Asker, file: Fingerprint) -> Reason | None:
    """What keeps a sync from reading a file that is in the store and has changed; None where it would be read."""
    place = asker.base / file.os_path
    covering = [root for root in asker.store.roots() if _is_under(root, file.path)]
    reasons = [_by_root(root, place, file.path, asker) for root in covering]
    if not reasons or any("not_synced" in reason.rules for reason in reasons):
        return None
    return reasons[-1]._replace(hint=Hint("rm", file.path))


def _is_under(root: Root, name: str) -> bool:
    folder = nfc(root.folder)
    if folder == ".":
        return not name.startswith("/")
    return name == folder or name.startswith(folder.rstrip("/") + "/")


def _by_root(root: Root, place: Path, name: str, asker: Asker) -> Reason:
    left_out = next(each.left_out for each in asker.store.known_roots() if each.root == root)
    if name in left_out:
        detail = f"{root.folder} was added, and the file was removed from the store since"
        return Reason(detail, ("left_out",), Hint("add", typed(place)))
    found = _looked_at(root, name, asker.base, asker.config)
    if isinstance(found, Found):
        return _by_content(root, place, name, asker.config)
    if isinstance(found, Skip):
        return Reason(found.reason, (found.code,), Hint("add", typed(place)))
    rules = _rules(root, place, name, asker)
    return Reason(f"{root.folder} was added, and {'; '.join(rules)}", rules, Hint("add", typed(place)))


def _looked_at(root: Root, name: str, base: Path, config: Config) -> Found | Skip | None:
    return single(root, base) if name == nfc(root.folder) else find_one(root, base, config, name)


def _by_content(root: Root, place: Path, name: str, config: Config) -> Reason:
    """What reading says of a file that the rules let through."""
    try:
        raw = read_raw(place, path=name, config=config)
        with FileReader(config) as reader:
            reader.read(raw.content, path=name, root=root, digest=raw.digest)
    except (IngestError, UsageError) as error:
        return Reason(error.message, (error.code,), error.hint)  # adding it by name would end with the same error
    except OSError as error:
        return Reason(f"it cannot be read: {error.strerror}", ("unreadable",), f"ls -l {shell.quote(str(place))}")
    return Reason(f"{root.folder} was added before the file was there", ("not_synced",), Hint("sync"))


def _rules(root: Root, place: Path, name: str, asker: Asker) -> tuple[str, ...]:
    """Every rule that keeps it out, each found by leaving the others away."""
    relative = name.removeprefix(nfc(root.folder).rstrip("/") + "/") if root.folder != "." else name
    parts = relative.split("/")
    rules = [f"{part} is never read" for part in parts if part in NEVER_READ]
    hidden = [part for part in parts if part.startswith(".") and part not in NEVER_READ]
    rules += [f"{part} is hidden ({flag('hidden')})" for part in hidden if not root.hidden]
    rules += [f"{flag('ignore')} {pattern} matches" for pattern in root.ignores if _matches(pattern, parts)]
    if root.globs and not matches_any(root.globs, relative):
        rules.append(f"no {flag('glob')} matches: {' '.join(root.globs)}")
    if root.gitignore and (line := _gitignore_line(root, place, asker.base)):
        rules.append(line)
    open_root = root._replace(globs=(), ignores=(), hidden=True, gitignore=False)
    if not set(parts) & NEVER_READ and _looked_at(open_root, name, asker.base, asker.config) is None:
        rules.append("it is the store's own, or lies in a virtual environment or behind a link")
    return tuple(rules)


def _matches(pattern: str, parts: list[str]) -> bool:
    return any(matches_any([pattern], "/".join(parts[: depth + 1])) for depth in range(len(parts)))


def _gitignore_line(root: Root, place: Path, base: Path) -> str | None:
    """`.gitignore says build/`: the file and the line that leave out the file, or a folder that it lies in."""
    top = base / root.folder
    below = Path(os.path.abspath(place)).relative_to(Path(os.path.abspath(top)))  # noqa: PTH100 - as it is spelt
    rules = ignore.above(top)
    for depth, part in enumerate(below.parts):
        folder = Path(os.path.abspath(top), *below.parts[:depth])  # noqa: PTH100
        rules = (*rules, *(ignore.of_repository(folder) if depth else ()), *ignore.of_folder(folder))
        is_folder = depth + 1 < len(below.parts)
        decisive = ignore.decided_by(rules, str(folder / part), is_folder=is_folder)
        if decisive and decisive[1].excludes:
            file, rule = decisive
            return f"{file.source} line {rule.line} says {rule.text} ({flag('no_gitignore')})"
    return None
