"""The pinned packages with the files of the questions, and their unpacking into folders of text.

Nothing is downloaded: the packages are in a folder, as `pip download` and `apt-get download` save them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

LARGEST = 16_000_000
"""Largest file of a package in bytes. A package with a larger file is not the expected one."""

_AR, _AR_HEADER = b"!<arch>\n", 60
_MEMBER = "data.tar.xz"


class Package(NamedTuple):
    """One file of a registry.

    folder: name of the folder that its files are unpacked into.
    inside: path of the files in the package.
    parts: folders to unpack, all if empty.
    get: command that saves the package in the current folder.
    """

    folder: str
    file: str
    sha256: str
    inside: str
    parts: tuple[str, ...]
    get: str


class PackageError(Exception):
    """A package is missing, or is not the package that the questions were judged on."""


def _sdist(name: str, version: str, sha256: str, *parts: str) -> Package:
    folder = f"{name}-{version}"
    get = f"pip download --no-deps --no-binary :all: {name}=={version}"
    return Package(folder, f"{folder}.tar.gz", sha256, folder, parts, get)


def _debian(name: str, version: str, architecture: str, sha256: str) -> Package:
    epoch, _, rest = version.partition(":")
    file = f"{name}_{epoch}%3a{rest}_{architecture}.deb"
    get = f"apt-get download {name}={version}"
    return Package(f"{name}-{rest.partition('-')[0]}", file, sha256, "usr/share/man", (), get)


CODE = (
    _sdist("httpx", "0.28.1", "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc"),
    _sdist("werkzeug", "3.1.3", "60723ce945c19328679790e3282cc758aa4a6040e4bb330f53d30fa546d44746"),
    _sdist("psutil", "6.1.1", "cf8496728c18f2d0b45198f06895be52f36611711746b7f30c464b422b50e2f5"),
)
"""Python with JavaScript and C, and its tests."""

MANUALS = (
    _sdist("pytest", "8.3.4", "965370d062bce11e73868e0335abac31b4d3de0e82f4007408d242b4f8610761", "doc"),
    _sdist("black", "24.10.0", "846ea64c97afe3bc677b761787993be4991810ecc7a4a937816dd6bddedc4875", "docs"),
    _debian(
        "git-man",
        "1:2.39.5-0+deb12u3",
        "all",
        "904dbd8dbc3db34c6780fb0abfe35816d4a90a490126ef0a055a77a0c5dcab82",
    ),
    _debian(
        "openssh-client",
        "1:9.2p1-2+deb12u10",
        "amd64",
        "42c250b8b9110382488c53c066a960bc564ddac2cb9e449f47b6cdbb5fc1cb60",
    ),
)
"""reStructuredText, Markdown, and manual pages."""


def unpack(packages: tuple[Package, ...], source: Path, target: Path) -> None:
    """Unpack the packages in source into target, one folder each. Decompress manual pages.

    Hidden files and links are left out. Raises PackageError before anything is written, with a list of all problems,
    or
    for a file above LARGEST.
    """
    wrong = [problem for problem in (why_not(package, source) for package in packages) if problem]
    if wrong:
        raise PackageError("\n".join(wrong))
    for package in packages:
        for name, content in files(package, source / package.file):
            path = target / package.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def why_not(package: Package, source: Path) -> str | None:
    """Return what is wrong with a package in a folder and the command to get it, or None if it is right."""
    path = source / package.file
    if not path.is_file():
        return f"{path} does not exist. Run: {package.get}"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != package.sha256:
        return f"{path} has the sha256 {digest}, not {package.sha256}. Run: {package.get}"
    return None


def files(package: Package, path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name relative to the package's folder, content) of the files to unpack, in the order of the package."""
    archive = _debian_files(path.read_bytes()) if path.suffix == ".deb" else path.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            name = _taken(package, member)
            content = members.extractfile(member) if name else None
            if name is None or content is None:
                continue
            if member.size > LARGEST:
                raise PackageError(f"{path} has {member.size} bytes in {member.name}")
            yield (name, content.read()) if not name.endswith(".gz") else (name[:-3], _unzipped(content.read(), name))


def _taken(package: Package, member: tarfile.TarInfo) -> str | None:
    """Return the name of a regular file relative to the package's folder, or None for other members."""
    path = PurePosixPath(member.name)
    if not member.isfile() or path.is_absolute() or ".." in path.parts or not path.is_relative_to(package.inside):
        return None
    below = path.relative_to(package.inside)
    is_part = not package.parts or below.parts[0] in package.parts
    is_hidden = any(part.startswith(".") for part in below.parts)
    return str(below) if is_part and not is_hidden else None


def _debian_files(raw: bytes) -> bytes:
    """Return the archive of files in a Debian package, which is an `ar` archive."""
    if not raw.startswith(_AR):
        raise PackageError("not a Debian package")
    at = len(_AR)
    while at + _AR_HEADER <= len(raw):
        header = raw[at : at + _AR_HEADER]
        size = int(header[48:58])
        at += _AR_HEADER
        if header[:16].rstrip(b" /") == _MEMBER.encode():
            return raw[at : at + size]
        at += size + size % 2
    raise PackageError(f"a Debian package has no {_MEMBER}")


def _unzipped(content: bytes, name: str) -> bytes:
    with gzip.open(io.BytesIO(content)) as opened:
        text = opened.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise PackageError(f"{name} has more than {LARGEST} bytes")
    return text
