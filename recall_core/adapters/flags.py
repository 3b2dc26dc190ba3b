"""The command table: every command with its operands, flags and examples."""

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

_SET = Flag("--set", "override a ranking or packing setting for this question", "KEY=VALUE", many=True)
_RQL = Flag("--rql", "the query: text, @FILE, or - for stdin", "TEXT")
_CHECKS = (
    Flag("--exact", "scan every vector, whatever the index would skip"),
    Flag("--snapshot", "fail with exit 4 unless the store has this digest", "DIGEST"),
    Flag("--fresh", "sync the store with the disk first"),
    Flag("--strict-fresh", "fail with exit 3 when a returned file has changed"),
)
_EXPLAIN = Flag("--explain", "show how each score adds up")
_K = Flag("--k", "how many hits", "N", least=0)
_SEARCH = (
    Flag("--bm25", "words only (with --vector: both, which is the default)"),
    Flag("--vector", "meaning only"),
    Flag("--filter", "keep only what this filter expression lets through", "EXPR"),
    _EXPLAIN,
    _SET,
    *_CHECKS,
)
_WORDS = 'the question; quote a "phrase" to keep its words together'

COMMANDS: tuple[Command, ...] = (
    Command(
        "init",
        "Create recall.db and recall.toml in a folder.",
        Operand("DIR", "the folder, by default this one", least=0),
        (
            Flag("--embedding", "the embedder that makes the vectors (hash)", "NAME"),
            Flag("--set", "write this setting into recall.toml", "KEY=VALUE", many=True),
        ),
        ("recall init", "recall init ~/notes --set chunk_tokens=200"),
    ),
    Command(
        "add",
        "Read files and folders into the store; what did not change costs nothing.",
        Operand("PATH", "a file, or a folder that is remembered for sync", most=None),
        (
            Flag("--glob", "only files that match, relative to the folder", "PATTERN", many=True),
            Flag("--ignore", "not these files", "PATTERN", many=True),
            Flag("--tag", "a tag for every document", "TAG", many=True),
            Flag("--source", "a label that says where the documents come from", "LABEL"),
            Flag("--meta", "a value kept with every document", "KEY=VALUE", many=True),
            Flag("--parser", "read every file with this parser instead of choosing by its name", "NAME"),
            Flag("--hidden", "also read hidden files and folders"),
            Flag("--follow", "follow symbolic links that lead out of the folder"),
            Flag("--no-gitignore", "also read what .gitignore leaves out"),
            Flag("--mtime-only", "trust size and time; do not hash files that look unchanged"),
            Flag("--strict", "exit 1 when any file was skipped"),
        ),
        (
            "recall add docs --glob '**/*.md' --tag docs",
            "recall add src tests --ignore '**/fixtures/**' --source repo",
            "recall add paper.txt --meta year=2024",
        ),
    ),
    Command(
        "rm",
        "Take documents out of the store; the files on disk stay.",
        Operand("TARGET", "a path, or a document id (six digits are enough)", most=None),
        (Flag("--purge", "leave no byte of their text in the store's files"),),
        ("recall rm docs/old.md", "recall rm 3f2a9c --purge"),
    ),
    Command(
        "sync",
        "Bring every added folder up to date: new, changed and vanished files.",
        examples=("recall sync", "recall sync --json"),
    ),
    Command(
        "search",
        "Find the chunks that answer a question, best first.",
        Operand("WORDS", _WORDS, most=None),
        (_K, *_SEARCH),
        (
            'recall search "zero-downtime deploy" --k 5',
            "recall search retries --filter \"doc.tag = 'docs'\" --explain",
            "recall search '\"exact phrase\" other words' --bm25 --json",
        ),
    ),
    Command(
        "query",
        "Answer a question in RQL, the query language.",
        Operand("RQL", "the query: text, @FILE, or - for stdin; or give --rql", least=0, most=None),
        (_RQL, _EXPLAIN, _SET, *_CHECKS),
        (
            "recall query \"SELECT doc.path, score FROM chunk USING lexical('retry') LIMIT 5\"",
            "recall query --rql @nightly.rql --json",
            "echo \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\" | recall query -",
        ),
    ),
    Command(
        "rql",
        "Help with writing RQL: check or format a query, explain what it does, complete it at a cursor.",
        Operand(
            "ACTION",
            "check, format, explain or complete; then the query: text, @FILE, or - for stdin",
            most=None,
            actions=("check", "format", "explain", "complete"),
        ),
        (
            _RQL,
            Flag("--write", "format: put the result back into the file of @FILE"),
            Flag("--cursor", "complete: the place in code points, by default the end of the text", "N", least=0),
            _SET,
        ),
        (
            "recall rql check @nightly.rql",
            "recall rql format --write @nightly.rql",
            "recall rql explain \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\"",
            "recall rql complete 'SELECT * FROM chunk FILTER doc.t' --json",
        ),
        note="check and format need no store; complete suggests the values of one where there is one.",
    ),
    Command(
        "context",
        "Pack the best chunks, with their sources, into a text that fits a token budget.",
        Operand("WORDS", _WORDS + "; or give --rql", least=0, most=None),
        (
            _RQL,
            Flag("--budget-tokens", "tokens the whole text may have", "N", least=1),
            Flag("--k", "pack no more than the best N chunks", "N", least=0),
            Flag("--diversity", "most chunks of one document, 0 for no cap", "N", least=0),
            Flag("--counter", "count tokens with this counter: whitespace, approx or hf:FILE", "NAME"),
            Flag("--format", "how blocks are written", "FORMAT", choices=("plain", "markdown")),
            Flag("--pin", "pack this chunk first", "ID", many=True),
            Flag("--drop", "leave this chunk out", "ID", many=True),
            *_SEARCH,
        ),
        (
            'recall context "how we handle retries" --budget-tokens 1200 --diversity 2',
            "recall context retries --format markdown > context.md",
            "recall context --rql \"SELECT * FROM chunk USING lexical('retry')\" --json",
        ),
    ),
    Command(
        "get",
        "Print the text of a document, of a chunk or of some lines, byte for byte.",
        Operand("TARGET", "a path, path:FIRST-LAST, or an id (six digits are enough)"),
        examples=("recall get docs/deploy.md", "recall get docs/deploy.md:10-24", "recall get 3f2a9c"),
    ),
    Command("stats", "Say what the store holds.", examples=("recall stats", "recall stats --json")),
    Command(
        "doctor",
        "Check the store and say how to mend it; exit 6 when something is broken.",
        flags=(Flag("--fix", "mend what can be mended, after a backup"),),
        examples=("recall doctor", "recall doctor --fix"),
    ),
    Command(
        "compact",
        "Drop removed documents for good and give the disk space back.",
        examples=("recall compact", "recall compact --json"),
    ),
    Command(
        "export",
        "Write every document and chunk as JSON lines.",
        flags=(
            Flag("--out", "write to this file instead of stdout", "FILE"),
            Flag("--no-embeddings", "leave the vectors out"),
        ),
        examples=("recall export --out backup.jsonl", "recall export --no-embeddings | gzip > backup.jsonl.gz"),
        note="Without --out the lines are stdout's only content; with --json the report then goes to stderr.",
    ),
    Command(
        "import",
        "Read an export into this store, all of it or nothing.",
        Operand("FILE", "a file that recall export wrote"),
        (
            Flag(
                "--on-conflict",
                "when a document is already here",
                "ACTION",
                choices=("error", "skip", "replace"),
            ),
            Flag("--no-embeddings", "do not read the vectors"),
            Flag("--reembed", "make the vectors anew with this store's embedder"),
        ),
        ("recall import backup.jsonl", "recall import backup.jsonl --on-conflict skip"),
    ),
    Command(
        "schema", "Print the JSON Schema of every --json answer.", examples=("recall schema > recall.schema.json",)
    ),
    Command(
        "completion",
        "Print the completion script of a shell.",
        Operand("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),
        examples=(
            'eval "$(recall completion bash)"',
            "recall completion fish > ~/.config/fish/completions/recall.fish",
        ),
    ),
)
BY_NAME = {command.name: command for command in COMMANDS}
