"""Import modules on first use, so that a cold start imports only what it needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket as sockets  # `socket` takes 5 ms
    import csv
    import difflib
    import hashlib
    import multiprocessing
    import shutil
    import subprocess
    import tomllib
    import traceback
    import zlib
    from collections.abc import Callable
    from concurrent import futures
    from importlib import metadata
    from urllib import parse as urls

    import apsw
    import httpx
    import msgspec
    import numpy as np
    import Stemmer
    import tomlkit
    import yaml

__all__ = [
    "Stemmer",
    "apsw",
    "attach",
    "csv",
    "difflib",
    "futures",
    "hashlib",
    "httpx",
    "metadata",
    "msgspec",
    "multiprocessing",
    "np",
    "shutil",
    "sockets",
    "subprocess",
    "tomlkit",
    "tomllib",
    "traceback",
    "urls",
    "yaml",
    "zlib",
]


def attach(package: str, **homes: str) -> Callable[[str], object]:
    """Return a `__getattr__` that imports the modules of a package on first use (PEP 562).

    homes: other names that the package exports, with the submodule of each.
    """

    def load(name: str) -> object:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        if not name.startswith("__"):
            try:
                return import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


class _Lazy(ModuleType):
    """A module that is imported when an attribute is first read. Caches the attributes."""

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


_NAMES = {
    "futures": "concurrent.futures",
    "metadata": "importlib.metadata",
    "np": "numpy",
    "sockets": "_socket",
    "urls": "urllib.parse",
}


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    lazy = globals()[name] = _Lazy(_NAMES.get(name, name))
    return lazy
