"""What a command is made of: flags, operands, examples; and the flags that several commands share."""

from typing import NamedTuple

LARGEST = 2**31 - 1


class Flag(NamedTuple):
    """One flag. Without a metavar it is a switch; with `least` its value is a whole number from there up."""

    name: str
    doc: str
    metavar: str = ""
    least: int | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    """May be given several times; the values are collected in order."""

    @property
    def key(self) -> str:
        """The name under which the parsed value is found."""
        return self.name.lstrip("-").replace("-", "_")


class Operand(NamedTuple):
    """What follows a command without a flag: from `least` to `most` words (None: any number)."""

    name: str
    doc: str
    least: int = 1
    most: int | None = 1
    choices: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """What the first word has to be one of; the others are free."""


class Command(NamedTuple):
    """One command of `recall`."""

    name: str
    purpose: str
    operand: Operand | None = None
    flags: tuple[Flag, ...] = ()
    examples: tuple[str, ...] = ()
    note: str = ""


GLOBALS = (
    Flag(
        "--store",
        "database file, or folder with a recall.toml; else $RECALL_STORE, else the nearest one upward",
        "PATH",
    ),
    Flag("--json", "answer with one line of JSON on stdout, errors too"),
    Flag("--help", "show this help"),
)
VERSION = Flag("--version", "show the version")

SET = Flag("--set", "override a ranking or packing setting for this question", "KEY=VALUE", many=True)
RQL = Flag("--rql", "the query: text, @FILE, or - for stdin", "TEXT")
CHECKS = (
    Flag("--exact", "scan every vector, whatever the index would skip"),
    Flag("--snapshot", "fail with exit 4 unless the store has this digest", "DIGEST"),
    Flag("--fresh", "sync the store with the disk first"),
    Flag("--strict-fresh", "fail with exit 3 when a returned file has changed"),
)
EXPLAIN = Flag("--explain", "show how each score adds up")
K = Flag("--k", "how many hits (10)", "N", least=0)
QUESTION = (
    Flag("--bm25", "words only (with --vector: both, which is the default)"),
    Flag("--vector", "meaning only"),
    Flag("--filter", "keep only what this filter expression lets through", "EXPR"),
    Flag("--no-sparse", "give no row to a near but short document that the list misses"),
    EXPLAIN,
    SET,
    *CHECKS,
)
WORDS = 'the question; quote a "phrase" to keep its words together'
