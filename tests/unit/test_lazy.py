"""Modules that are imported at first use."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.house import LAZY
from recall_core import _lazy, explain


def test_package_imports_a_module_on_access(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "recall_core.explain.winning", raising=False)
    monkeypatch.delattr(explain, "winning", raising=False)
    assert isinstance(getattr(explain, "winning"), ModuleType)  # noqa: B009 - type checkers do not know this name


@pytest.mark.parametrize("module", [explain, _lazy])
def test_unknown_name_is_an_attribute_error(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name


def test_import_error_in_a_module_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_a_test").mkdir()
    (tmp_path / "of_a_test/__init__.py").write_text(f"from recall_core._lazy import attach\n{LAZY}__name__)\n")
    (tmp_path / "of_a_test/broken.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    package = import_module("of_a_test")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        _ = package.broken


def test_lazy_library_caches_accessed_names() -> None:
    library = _lazy._Lazy("json")
    assert library.dumps([1]) == "[1]"
    assert "dumps" in vars(library)


def test_missing_extras_are_named() -> None:
    script = (
        "import sys; sys.modules |= dict.fromkeys(('aiohttp', 'httpx'))\n"
        "from recall_core.embed.providers import wire\n"
        "from recall_core.errors import RecallError\n"
        "from recall_tui import program\n"
        "for call, *given in ((wire._client, 'http://127.0.0.1:9', {}, 1.0), (program._serve, None, None, None)):\n"
        "    try: call(*given)\n"
        "    except RecallError as error: print(error.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["embedder_unavailable", "serve_unavailable"]
