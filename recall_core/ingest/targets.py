"""Targets: named and remembered roots, checked before anything is written."""

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
from recall_core.ingest.reader import FileReader, read_raw, too_large
from recall_core.paths import os_path_of
from recall_core.rql.patterns import check_glob
from recall_core.shell import Hint, flag
from recall_core.text import is_storable, nfc
from recall_core.types import Fingerprint, Root, Stamp


def named_roots(targets: Sequence[str], *, template: Root, config: Config, base: Path) -> tuple[Root, ...]:
    """Return a root for each named folder or file: the template with its folder filled in.

    Reads and parses each named file to check it. Raises IngestError `missing_path`, `unreadable`, `not_a_file`,
    `bad_name`, `file_too_large` and the parser's errors; UsageError `unknown_parser`, `bad_pattern`; and the errors
    of `check_labels`.
    """
    for pattern in (*template.globs, *template.ignores):
        check_glob(pattern)
    check_name(template.parser)
    check_encoding(template.encoding)
    check_labels(template)
    roots = [_named_root(target, template, config, base) for target in targets]
    return tuple(dict.fromkeys(roots))


def check_labels(root: Root) -> None:
    """Check that a store can keep the tags, source, patterns and metadata of a root.

    Raises UsageError `bad_value`, IngestError `bad_metadata`.
    """
    texts = {
        flag("tag"): root.tags,
        flag("source"): (root.source or "",),
        flag("glob"): root.globs,
        flag("ignore"): root.ignores,
    }
    for name, values in texts.items():
        if unfit := next((each for each in values if not is_storable(each)), None):
            raise UsageError("bad_value", f"{name} {printable(unfit)!r} is not valid UTF-8.", hint=f"{name} WORD")
    if reason := why_unfit(dict(root.meta)):
        raise IngestError("bad_metadata", f"The labels cannot be stored: {reason}.")


def standing_roots(roots: Iterable[Root], *, known: Mapping[str, Fingerprint], base: Path) -> tuple[Root, ...]:
    """Return the remembered roots that still exist. A single file that vanished from its folder is left out.

    Raises IngestError `root_missing` if a folder with documents is gone: an unmounted disk must not empty the store.
    """
    standing: list[Root] = []
    for root in roots:
        place = base / root.folder
        if not is_gone(place):
            standing.append(root)
        elif any(file.os_path and belongs(root, path) for path, file in known.items()) and (
            nfc(root.folder) not in known or is_gone(place.parent)
        ):
            raise IngestError(
                "root_missing",
                f"{root.folder} no longer exists; nothing was changed.",
                hint=f"{Hint('rm', root.folder)}, or mount it again",
                details={"path": root.folder},
            )
    return tuple(standing)


def belongs(root: Root, path: str) -> bool:
    """Return True if the path is the root itself, or lies below it and matches its globs."""
    return path == nfc(root.folder) or covers(root, path)


def inherit_options(root: Root, path: str, older: Sequence[Root]) -> Root:
    """Return the root with its unset options filled in from older roots that contain the path, newest first.

    So after `add docs --tag guide` and `add .`, a changed guide keeps its tag, and records stay records.
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
    """Return True if a newer root that contains this file would make sync read it with other options.

    remembered: newest first.
    """
    newest = next((other for other in remembered if belongs(other, path)), root)
    if newest == root or root not in remembered:
        return False
    return _read_options(inherit_options(newest, path, remembered)) != _read_options(
        inherit_options(root, path, remembered)
    )


def _read_options(root: Root) -> tuple[object, ...]:
    return root.parser, root.encoding, frozenset(root.tags), root.source, dict(root.meta)


def is_gone(place: Path) -> bool:
    """Return True if nothing exists at this place. An inaccessible place is not gone."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def is_no_file(place: Path) -> bool:
    """Return True if something other than a file exists at this place, such as a folder or a pipe."""
    status = _status(place)
    return status is not None and not stat.S_ISREG(status.st_mode)


def is_as_read(file: Fingerprint, place: Path, config: Config) -> bool:
    """Return True if the file still has the bytes that were read, by status or else by hash, or cannot be checked."""
    status = _status(place)
    if status is None or file.may_be(Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)):
        return True
    try:
        return read_raw(place, path=file.path, config=config).digest == file.hash
    except IngestError:  # too large to have been read
        return False
    except OSError:
        return True


def _status(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except (OSError, ValueError):
        return None


def _suggest_path(target: str) -> str:
    """Return a hint: the most similar name in the same folder, else a command that lists the folder."""
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
        raise IngestError("missing_path", f"{target} does not exist.", hint=_suggest_path(target)) from error
    except OSError as error:
        raise _unreadable_error(target, error) from error
    folder = os_path_of(Path(target), base, is_added=True)
    try:
        if stat.S_ISDIR(status.st_mode):
            os.scandir(target).close()
            return template._replace(folder=folder)
        if not stat.S_ISREG(status.st_mode):
            raise IngestError("not_a_file", f"{target} is not a file or folder.")
        if status.st_size > config.max_file_bytes:
            raise too_large(target, status.st_size, config)
        raw = read_raw(Path(target), path=target, config=config)
    except OSError as error:
        raise _unreadable_error(target, error) from error
    with FileReader(config) as reader:
        reader.read(raw.content, path=target, root=template, digest=raw.digest)
    labels = {"tags": template.tags, "source": template.source, "meta": template.meta}
    return Root(folder, parser=template.parser, encoding=template.encoding, **labels)  # type: ignore[arg-type]


def _unreadable_error(target: str, error: OSError) -> IngestError:
    return IngestError("unreadable", f"{target} cannot be read: {error.strerror}.", hint=f"ls -l {target}")


def as_remembered(root: Root, remembered: Sequence[Root]) -> Root:
    """Return the remembered root if the folder was added before parsers were chosen per file: it stays text."""
    as_text = root._replace(parser="text")
    is_before = root.parser == AUTO and root not in remembered and as_text in remembered
    return as_text if is_before else root


def are_two(place: Path, other: Path) -> bool:
    """Return True if the two names are two different files. Some disks treat them as one name."""
    try:
        return not place.samefile(other)
    except (OSError, ValueError):
        return False


def is_record(path: str, file: str, base: Path) -> bool:
    """Return True if the document at this path came from this file. `file#record` may itself be a file."""
    return path.startswith(f"{file}#") and not os.path.lexists(base / path)
