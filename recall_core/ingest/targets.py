"""Targets: what the caller named, and what was remembered, checked before anything is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from recall_core import shell
from recall_core._lazy import difflib
from recall_core.config import Config
from recall_core.errors import IngestError, UsageError
from recall_core.ingest.decode import check_encoding
from recall_core.ingest.discover import covers, printable
from recall_core.ingest.metadata import why_unfit
from recall_core.ingest.parse import AUTO, check_name
from recall_core.ingest.read import read_raw, too_large
from recall_core.ingest.reader import FileReader
from recall_core.paths import os_path_of
from recall_core.rql.patterns import check_glob
from recall_core.shell import Hint, flag
from recall_core.text import is_storable, nfc
from recall_core.types import Fingerprint, Root, Stamp


def named_roots(targets: Sequence[str], *, template: Root, config: Config, base: Path) -> tuple[Root, ...]:
    """A root for every named folder or file: the template with its place filled in.

    A file is read and parsed here to see that it can be.  Raises IngestError `missing_path`, `unreadable`,
    `not_a_file`, `bad_name`, `file_too_large` and whatever the parser raises; UsageError `unknown_parser`,
    `bad_pattern`; what `check_labels` raises.
    """
    for pattern in (*template.globs, *template.ignores):
        check_glob(pattern)
    check_name(template.parser)
    check_encoding(template.encoding)
    check_labels(template)
    roots = [_named_root(target, template, config, base) for target in targets]
    return tuple(dict.fromkeys(roots))


def check_labels(root: Root) -> None:
    """Raises UsageError `bad_value` for a tag, a source or a pattern that no store can keep, IngestError
    `bad_metadata` for such metadata."""
    texts = {
        flag("tag"): root.tags,
        flag("source"): (root.source or "",),
        flag("glob"): root.globs,
        flag("ignore"): root.ignores,
    }
    for spelt, values in texts.items():
        if unfit := next((each for each in values if not is_storable(each)), None):
            raise UsageError("bad_value", f"{spelt} {printable(unfit)!r} is not valid UTF-8.", hint=f"{spelt} WORD")
    if reason := why_unfit(dict(root.meta)):
        raise IngestError("bad_metadata", f"What the files are to be added with: {reason}.")


def standing_roots(roots: Iterable[Root], *, known: Mapping[str, Fingerprint], base: Path) -> tuple[Root, ...]:
    """The remembered roots that are still there; a single file that vanished from its folder is left out.

    Raises IngestError `root_missing` for a folder that is gone while documents were read from it: an unmounted disk
    must not empty the store.
    """
    standing: list[Root] = []
    for root in roots:
        place = base / root.folder
        if not is_gone(place):
            standing.append(root)
        elif _is_missed(root, known) and (nfc(root.folder) not in known or is_gone(place.parent)):
            raise IngestError(
                "root_missing",
                f"{root.folder} was added and is not there any more; nothing was changed.",
                hint=f"{Hint('rm', root.folder)}, or mount it again",
                details={"path": root.folder},
            )
    return tuple(standing)


def belongs(root: Root, path: str) -> bool:
    """True when a file's path is the root itself or lies below it as its globs ask."""
    return path == nfc(root.folder) or covers(root, path)


def inherited(root: Root, path: str, older: Sequence[Root]) -> Root:
    """The root with every option it leaves open taken from an older root that holds the path, newest first.

    So `add docs --tag guide` and then `add .` reads a changed guide with its tag, and records stay records.
    """
    for other in older:
        if other != root and belongs(other, path):
            root = root._replace(
                parser=other.parser if root.parser == "auto" else root.parser,
                tags=root.tags or other.tags,
                source=other.source if root.source is None else root.source,
                encoding=root.encoding or other.encoding,
                meta=tuple({**dict(other.meta), **dict(root.meta)}.items()),
            )
    return root


def is_overruled(root: Root, path: str, remembered: Sequence[Root]) -> bool:
    """True when a sync would read this file otherwise than a remembered root asks, because a newer one holds it too.

    remembered: newest first.
    """
    newest = next((other for other in remembered if belongs(other, path)), root)
    if newest == root or root not in remembered:
        return False
    return _asked_for(inherited(newest, path, remembered)) != _asked_for(inherited(root, path, remembered))


def _asked_for(root: Root) -> tuple[object, ...]:
    return root.parser, root.encoding, frozenset(root.tags), root.source, dict(root.meta)


def is_gone(place: Path) -> bool:
    """True when there is nothing at this place; not being allowed to look, or not able to spell it, is not gone."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def is_no_file(place: Path) -> bool:
    """True when something stands at this place that is not a file: a folder, a pipe."""
    status = _status(place)
    return status is not None and not stat.S_ISREG(status.st_mode)


def is_as_read(file: Fingerprint, place: Path, config: Config) -> bool:
    """True when a file has the bytes that were read, by its status or else by their hash, or it cannot be told."""
    status = _status(place)
    if status is None or file.may_be(Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)):
        return True
    try:
        return read_raw(place, path=file.path, config=config).digest == file.hash
    except IngestError:  # it is too large to be what was read
        return False
    except OSError:
        return True


def _status(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except (OSError, ValueError):
        return None


def _is_missed(root: Root, known: Mapping[str, Fingerprint]) -> bool:
    return any(file.os_path and belongs(root, path) for path, file in known.items())


def _nearest(target: str) -> str:
    """The name in the same folder that is most like this one, as a hint; else what shows the folder."""

    place = Path(target)
    with suppress(OSError, ValueError):
        near = difflib.get_close_matches(place.name, [each.name for each in place.parent.iterdir()], n=1, cutoff=0.75)
        likely = shell.quote(str(place.parent / near[0] if near else place.parent))
        return f"did you mean {likely}?" if near else f"ls {likely}"
    return f"ls {shell.quote(target)}"


def _named_root(target: str, template: Root, config: Config, base: Path) -> Root:
    try:
        target.encode()
        status = Path(target).stat()
    except UnicodeEncodeError as error:
        raise IngestError("bad_name", f"The name {printable(target)!r} is not UTF-8.") from error
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise IngestError("missing_path", f"There is nothing at {target}.", hint=_nearest(target)) from error
    except OSError as error:
        raise _unreadable(target, error) from error
    folder = os_path_of(Path(target), base, is_added=True)
    if stat.S_ISDIR(status.st_mode):
        _check_folder(target)
        return template._replace(folder=folder)
    if not stat.S_ISREG(status.st_mode):
        raise IngestError("not_a_file", f"{target} is neither a file nor a folder.")
    if status.st_size > config.max_file_bytes:
        raise too_large(target, status.st_size, config)
    _check_file(target, template, config)
    labels = {"tags": template.tags, "source": template.source, "meta": template.meta}
    return Root(folder, parser=template.parser, encoding=template.encoding, **labels)  # type: ignore[arg-type]


def _check_folder(target: str) -> None:
    try:
        with os.scandir(target):
            pass
    except OSError as error:
        raise _unreadable(target, error) from error


def _check_file(target: str, template: Root, config: Config) -> None:
    try:
        raw = read_raw(Path(target), path=target, config=config)
    except OSError as error:
        raise _unreadable(target, error) from error
    with FileReader(config) as reader:
        reader.read(raw.content, path=target, root=template, digest=raw.digest)


def _unreadable(target: str, error: OSError) -> IngestError:
    return IngestError("unreadable", f"{target} cannot be read: {error.strerror}.", hint=f"ls -l {target}")


def as_remembered(root: Root, remembered: Sequence[Root]) -> Root:
    """The root that a folder has which was added before files chose their parser: it goes on to be read as text."""
    as_text = root._replace(parser="text")
    is_before = root.parser == AUTO and root not in remembered and as_text in remembered
    return as_text if is_before else root


def are_two(place: Path, other: Path) -> bool:
    """Whether there are two files of these names; some disks have one name for both."""
    try:
        return not place.samefile(other)
    except (OSError, ValueError):
        return False


def is_record(path: str, file: str, base: Path) -> bool:
    """Whether a document of this path came from this file: `file#record` may be a file of its own."""
    return path.startswith(f"{file}#") and not os.path.lexists(base / path)
