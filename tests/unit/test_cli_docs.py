"""The documentation matches the code: every command, flag, key and error code has a line."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

import recall_core
import recall_tui
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import GLOBALS, VERSION
from recall_core.explain.whynot.stages import STAGES
from recall_core.ingest.parse import BUILT_IN, PLUG_INS
from recall_tui import files
from recall_tui.program import FLAGS as WORKBENCH_FLAGS
from tests.contracts import schema

ROOT = Path(recall_core.__file__).parent.parent
DOCS = ROOT / "docs"
ERROR_CLASSES = (
    "RecallError|UsageError|ConfigError|StoreError|StoreLocked|StoreCorrupt|IngestError|EmbedError|StaleError|"
    "SnapshotMismatch|Outdated|UnknownTarget|Interrupted|RqlError"
)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    return page(name).split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def codes_in_source(pattern: str) -> set[str]:
    sources = [*(ROOT / "recall_core").rglob("*.py"), *Path(recall_tui.__path__[0]).rglob("*.py")]
    return {code for path in sources for code in re.findall(pattern, path.read_text(encoding="utf-8"))}


def test_every_command_has_its_generated_section() -> None:
    sections = run_path(str(DOCS / "generate.py"))["sections"]

    assert sections(page("cli.md")) == page("cli.md")
    assert [name for name in BY_NAME if f"\nrecall {name}" not in section("cli.md", name)] == []


def test_a_new_command_gets_a_section_above_the_workbench() -> None:
    sections = run_path(str(DOCS / "generate.py"))["sections"]
    older = page("cli.md").replace("\n## get\n" + section("cli.md", "get"), "")

    newer = sections(older)

    assert newer.index("\n## completion\n") < newer.index("\n## get\n") < newer.index("\n## recall-tui\n")
    assert newer.replace("\n## get\n", "").count("recall get TARGET [flags]") == 1


def test_every_global_flag_is_documented() -> None:
    text = section("cli.md", "Everywhere")

    assert [flag.name for flag in (*GLOBALS, VERSION) if f"`{flag.name}" not in text] == []


def test_every_workbench_flag_is_documented() -> None:
    text = page("cli.md")

    assert [flag.name for flag in WORKBENCH_FLAGS if f"`{flag.name}" not in text] == []


def test_every_editor_with_line_support_is_documented() -> None:
    editors = (*files._PLUS, *files._GOTO, *files._COLON)

    assert [name for name in editors if f"`{name}`" not in section("workbench.md", "Editors")] == []


def test_every_docs_link_resolves() -> None:
    links = [
        (path.name, target, anchor)
        for path in DOCS.glob("*.md")
        for target, anchor in re.findall(r"\]\(([\w-]+\.md)?(?:#([\w-]+))?\)", path.read_text(encoding="utf-8"))
    ]

    assert len(links) > 50
    assert [link for link in links if link[2] and link[2] not in anchors(link[1] or link[0])] == []
    assert [link for link in links if link[1] and not (DOCS / link[1]).exists()] == []


def anchors(name: str) -> set[str]:
    """Return the anchors made by a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page(name), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_workbench_store_operand_is_documented() -> None:
    assert "| `STORE` |" in section("cli.md", "recall-tui")


def test_every_parser_is_listed_with_its_option() -> None:
    (text,) = (part for part in section("cli.md", "add").split("\n\n") if part.startswith("`--parser` takes"))

    assert [name for name in (*BUILT_IN, *PLUG_INS) if f"`{name}`" not in text] == []


def test_whynot_stages_are_documented_in_order() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", section("whynot.md", "The stages"), flags=re.MULTILINE) == list(STAGES)


def test_every_contract_key_is_documented() -> None:
    text = page("json.md")
    keys = {key for definition in schema()["$defs"].values() for key in definition["properties"]}

    assert sorted(key for key in keys if f"`{key}`" not in text) == []


def test_every_error_code_is_documented_with_meaning_and_exit_status() -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9_]+)` \| (\d+ \| .+) \|$", page("errors.md"), flags=re.MULTILINE))
    raised = codes_in_source(rf'(?:\b(?:{ERROR_CLASSES})|\.error)\(\s*"([a-z0-9_]+)"')

    assert "unknown_flag" in raised
    assert sorted(raised - set(rows)) == []


def test_every_skip_reason_is_documented() -> None:
    reasons = codes_in_source(r'_skip\([^,()]+, "([a-z_]+)"')

    documented = section("errors.md", "Skipped files") + section("errors.md", "Reading files")
    assert "symlink_outside" in reasons
    assert sorted(code for code in reasons if f"| `{code}` |" not in documented) == []


def test_every_documented_error_code_exists() -> None:
    documented = set(re.findall(r"^\| `([a-z0-9_]+)` \|", page("errors.md"), flags=re.MULTILINE))
    source = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("recall_*/**/*.py"))

    assert sorted(code for code in documented if f'"{code}"' not in source) == []


def test_generated_docs_match_the_code() -> None:
    generated = run_path(str(DOCS / "generate.py"))

    assert generated["SCHEMA"].read_text(encoding="utf-8") == generated["schema"]()
    assert generated["replace_settings"](page("settings.md")) == page("settings.md")
    assert generated["TOOLS"].read_text(encoding="utf-8") == generated["tools"]()
    assert page("json.md") == generated["page"](page("json.md"))
    assert page("json.md").count("| `found` | get | the text |") == 1
