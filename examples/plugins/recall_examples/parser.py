"""A parser: each section of an INI file is a document. `recall add --parser ini settings.ini`."""

from collections.abc import Iterator
from configparser import ConfigParser, Error
from hashlib import sha256

from recall_core.errors import IngestError
from recall_core.ports import ParsedDocument


class Ini:
    """Names each document after its section."""

    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterator[ParsedDocument]:
        file = ConfigParser(interpolation=None)
        try:
            file.read_string(raw.decode(), path)
        except Error as error:
            raise IngestError("bad_ini", f"not an INI file: {error.message}") from error
        for name in file.sections():
            text = "\n".join(f"{key}: {value}" for key, value in file.items(name))
            data = f"{name}\n{text}".encode()
            yield ParsedDocument(name, text, name, sha256(data).hexdigest(), len(data), {"section": name})
