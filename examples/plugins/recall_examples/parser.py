"""A parser: each section of an INI file is a document."""

from __future__ import annotations

from collections.abc import Iterator
from configparser import ConfigParser, Error
from hashlib import sha256

from recall_core.errors import IngestError
from recall_core.ports import ParsedDocument


class Ini:
    """Reads INI files. `recall add --parser ini settings.ini`."""

    version = 1
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterator[ParsedDocument]:
        """Yield a document for each section with options; its record is the section's name."""
        sections = ConfigParser(interpolation=None, default_section="")
        try:
            sections.read_string(raw.decode(), path)
        except Error as error:
            raise IngestError("parse_failed", f"not an INI file: {error.message}") from error
        for name in sections.sections():
            text = "\n".join(f"{key}: {value}" for key, value in sections.items(name))
            data = f"{name}\n{text}".encode()
            yield ParsedDocument(name, text, name, sha256(data).hexdigest(), len(data), {"section": name})
