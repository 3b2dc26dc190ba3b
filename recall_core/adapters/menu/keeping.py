"""The commands that fill a store, serve it and keep it in order, and those that need no store."""

from recall_core.adapters.flags import MODE, TIMEOUT, Command, Flag, Operand, in_lines, later, on_store

_VERBOSE = Flag("--verbose", "name every file that was skipped, and why, also those told before", short="-v")

_RULES = (
    Flag("--glob", "only files that match, relative to the folder", "PATTERN", many=True),
    Flag("--ignore", "not these files", "PATTERN", many=True),
    Flag("--tag", "a tag for every document", "TAG", many=True),
    Flag("--source", "a label that says where the documents come from", "LABEL"),
    Flag("--meta", "a value kept with every document", "KEY=VALUE", many=True),
    Flag(
        "--parser",
        "what reads the files: auto (the default) goes by name and content, text takes each as it is",
        "NAME",
    ),
    Flag("--encoding", "what texts are in that do not say it themselves, such as latin-1 (else UTF-8)", "NAME"),
)
"""What a folder is remembered with, besides switches."""

FILLING: tuple[Command, ...] = (
    Command(
        "init",
        "Create recall.db and recall.toml in a folder.",
        later("commands:init"),
        in_lines("creating:created"),
        Operand("DIR", "the folder, by default this one", least=0),
        (
            Flag("--embedding", "the embedder that makes the vectors (local if installed, else hash)", "NAME"),
            Flag("--set", "write this setting into recall.toml", "KEY=VALUE", many=True),
            MODE,
        ),
        ("recall init", "recall init ~/notes --set chunk_tokens=200"),
        is_drawn=False,
    ),
    Command(
        "add",
        "Read files and folders into the store; what did not change costs nothing.",
        on_store("commands:add"),
        in_lines("render:ingested"),
        Operand("PATH", "a file, a folder that is remembered for sync, or - for stdin", most=None),
        (
            *_RULES,
            Flag("--hidden", "also read hidden files and folders"),
            Flag("--follow", "follow symbolic links that lead out of the folder"),
            Flag("--no-gitignore", "also read what .gitignore leaves out"),
            Flag("--mtime-only", "trust size and time; do not hash files that look unchanged"),
            Flag("--strict", "exit 1 when any file was skipped"),
            Flag("--name", "of what - brings: the path that its document has, in the store's folder", "PATH"),
            _VERBOSE,
        ),
        (
            "recall add docs --glob '**/*.md' --tag docs",
            "recall add src tests --ignore '**/fixtures/**' --source repo",
            "recall add paper.txt --meta year=2024",
            "date | recall add - --name notes/today.md",
        ),
    ),
    Command(
        "rm",
        "Remove documents from the store; the files on disk stay.",
        on_store("commands:remove"),
        in_lines("render:removed"),
        Operand("TARGET", "a path, a folder, a glob in quotes, or a document id (six digits are enough)", most=None),
        (
            Flag("--dry-run", "name the documents, and take none out"),
            Flag("--purge", "leave no byte of their text in the store's files"),
        ),
        ("recall rm docs/old.md", "recall rm 'docs/**/*.md' --dry-run", "recall rm 3f2a9c --purge"),
    ),
    Command(
        "roots",
        "List what was added, by number, with its rules; change them, or forget what was added.",
        on_store("roots:roots"),
        in_lines("roots:lines"),
        Operand(
            "ACTION",
            "accept, edit or forget; then the number of the root, or numbers",
            least=0,
            most=None,
            actions=("accept", "edit", "forget"),
        ),
        (
            *_RULES,
            Flag("--hidden", "also read hidden files and folders"),
            Flag("--no-hidden", "read none"),
            Flag("--follow", "follow symbolic links that lead out of the folder"),
            Flag("--no-follow", "follow none"),
            Flag("--gitignore", "leave out what .gitignore does"),
            Flag("--no-gitignore", "also read what .gitignore leaves out"),
            Flag("--sync", "edit: sync at once"),
            Flag("--rm", "forget: take out its documents too, but for those that another root holds"),
            _VERBOSE,
        ),
        (
            "recall roots",
            "recall roots edit 2 --glob '**/*.md' --tag docs --sync",
            "recall roots forget 3 --rm",
            "recall roots accept 2",
        ),
        note="Every flag of edit takes the place of what the root had; an empty value ('') takes it away.",
    ),
    Command(
        "sync",
        "Bring every added folder up to date: new, changed and vanished files.",
        on_store("commands:sync"),
        in_lines("render:ingested"),
        flags=(
            Flag("--watch", "go on with every change, until Ctrl-C"),
            Flag("--reparse", "read every file again, also those that did not change; no text is embedded anew"),
            _VERBOSE,
        ),
        examples=("recall sync", "recall sync --watch", "recall sync --json"),
    ),
)

_CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "vscode", "zed", "opencode")

SERVING: tuple[Command, ...] = (
    Command(
        "mcp",
        "Serve the store to agents over the Model Context Protocol, on stdin and stdout.",
        later("mcp.command:run"),
        None,
        flags=(
            Flag("--http", "serve on a port of this machine instead, for who has the token"),
            Flag("--port", "with --http: the port (8765); 0 takes a free one", "N", least=0),
            Flag("--no-token", "with --http: answer every user of this machine"),
            Flag("--watch", "sync when files of added folders change, once they have rested"),
            Flag("--on-boot", "sync as the server starts"),
            Flag("--interval", "sync every so many seconds", "SECONDS", is_seconds=True),
            Flag("--base", "the folder that paths are relative to (the store's)", "DIR"),
            Flag("--tools", "offer these tools alone, with commas between them (all)", "NAMES"),
            Flag("--structured", "also send each answer as structured content"),
            Flag(
                "--max-answer-chars",
                "characters of an answer, beyond which it names what is left out",
                "N",
                least=1,
            ),
            Flag("--call-timeout", "how long a call may take (60)", "SECONDS", is_seconds=True),
            Flag("--connections", "connections to the store (4)", "N", least=1),
            Flag("--install", "print the entry for this client's configuration", "CLIENT", choices=_CLIENTS),
        ),
        examples=(
            "recall mcp --install claude-code",
            "recall mcp --install codex",
            "recall mcp --watch",
            "recall mcp --http --port 0",
        ),
        note="It only reads; with --watch, --on-boot or --interval it also brings added folders up to date.",
    ),
)

CARE: tuple[Command, ...] = (
    Command(
        "stats",
        "Say what the store holds.",
        on_store("commands:stats"),
        in_lines("render:store"),
        flags=(Flag("--sizes", "also say what the file is made of; all of it is looked at"), TIMEOUT),
        examples=("recall stats", "recall stats --sizes", "recall stats --json"),
    ),
    Command(
        "doctor",
        "Check the store and say how to repair it; exit 6 when something is broken.",
        on_store("commands:doctor"),
        in_lines("render:checks"),
        flags=(
            Flag("--fix", "mend what can be mended, after a backup"),
            Flag("--dups", "also count chunks of different documents that say almost the same"),
        ),
        examples=("recall doctor", "recall doctor --fix", "recall doctor --dups"),
    ),
    Command(
        "compact",
        "Delete removed documents for good and free the disk space.",
        on_store("commands:compact"),
        in_lines("render:compacted"),
        examples=("recall compact", "recall compact --json"),
    ),
    Command(
        "backup",
        "Copy the store into a file while it is in use, and check every byte of the copy.",
        on_store("commands:backup"),
        in_lines("render:backed_up"),
        Operand("FILE", "the file to write; it appears only when it is whole"),
        (Flag("--force", "take the place of a file that is there"), MODE),
        ("recall backup notes-2026-05.db", "recall backup /mnt/usb/notes.db --force"),
    ),
    Command(
        "verify",
        "Check a store, a backup or an export, without changing it; exit 6 when something is wrong.",
        later("commands:verify"),
        in_lines("render:verified"),
        Operand("FILE", "a file that init, backup or export made"),
        examples=("recall verify notes-2026-05.db", "recall verify export.jsonl --json"),
    ),
    Command(
        "recover",
        "Make a new store of what can be read of a damaged one; say what is lost.",
        later("commands:recover"),
        in_lines("render:recovered"),
        Operand("OLD NEW", "the damaged store, which is only read, and the file for the new one", least=2, most=2),
        examples=("recall recover recall.db recovered.db",),
    ),
    Command(
        "export",
        "Write every document and chunk as JSON lines.",
        on_store("commands:export"),
        in_lines("render:transferred"),
        flags=(
            Flag("--out", "write to this file instead of stdout", "FILE"),
            Flag("--no-embeddings", "leave the vectors out"),
            MODE,
        ),
        examples=("recall export --out backup.jsonl", "recall export --no-embeddings | gzip > backup.jsonl.gz"),
        note="Without --out, or with --out -, stdout has the lines alone; with --json the report goes to stderr.",
    ),
    Command(
        "import",
        "Read an export into this store, all of it or nothing.",
        on_store("commands:import_"),
        in_lines("roots:imported"),
        Operand("FILE", "a file that recall export wrote"),
        (
            Flag(
                "--on-conflict",
                "when a document is already here (error)",
                "ACTION",
                choices=("error", "skip", "replace"),
            ),
            Flag("--no-embeddings", "do not read the vectors"),
            Flag("--reembed", "make the vectors anew with this store's embedder"),
            Flag("--accept-roots", "sync the folders that it names from now on; without it they wait"),
        ),
        ("recall import backup.jsonl", "recall import backup.jsonl --on-conflict skip"),
    ),
    Command(
        "schema",
        "Print the JSON Schema of every --json answer.",
        later("commands:schema"),
        None,
        examples=("recall schema > recall.schema.json",),
    ),
    Command(
        "completion",
        "Print the completion script of a shell.",
        later("commands:completion_script"),
        None,
        Operand("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),
        examples=(
            'eval "$(recall completion bash)"',
            "recall completion fish > ~/.config/fish/completions/recall.fish",
        ),
    ),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "trust",
        "Accept what the recall.toml here says that sends texts, loads code or reaches out of its folder.",
        later("commands:trust"),
        in_lines("render:trust"),
        flags=(
            Flag("--show", "only say what it is, and its digest for RECALL_TRUST"),
            Flag("--yes", "accept it without being asked"),
            Flag("--forget", "accept it no longer"),
        ),
        examples=("recall trust", "recall trust --show", "recall trust --yes"),
        note="Where nothing can be kept, RECALL_TRUST=SHA256 in the environment accepts it for one run.",
    ),
    Command(
        "embedders",
        "List the embedders: which can be used here, why not the others, and what each is good for.",
        later("commands:embedders"),
        in_lines("render:embedders"),
        flags=(Flag("--probe", "also measure how many texts each available one embeds in a second"),),
        examples=("recall embedders", "recall embedders --probe --json"),
    ),
    Command(
        "reembed",
        "Re-embed all chunks with another embedder; searches use the old vectors until that is done.",
        on_store("commands:reembed"),
        in_lines("render:reembedded"),
        Operand("NAME", "an embedder as recall embedders names it, or auto"),
        (Flag("--set", "write this setting into recall.toml too", "KEY=VALUE", many=True),),
        ("recall reembed local", "recall reembed openai --set embedding_model=text-embedding-3-small"),
        note="Interrupted, the same command goes on where it was.",
    ),
    Command(
        "rechunk",
        "Cut all documents into larger or smaller chunks; searches use the old ones until that is done.",
        on_store("commands:rechunk"),
        in_lines("render:rechunked"),
        flags=(
            Flag("--chunk-tokens", "tokens a chunk aims at", "N", least=1),
            Flag("--overlap-tokens", "tokens neighbouring chunks share", "N", least=0),
            Flag("--max-chunk-chars", "characters no chunk exceeds", "N", least=1),
            Flag(
                "--counter",
                "what counts the tokens: whitespace, approx, approx-2, approx:modern or hf:tokenizer.json",
                "NAME",
            ),
            Flag("--dry-run", "only say how many chunks there would be, and how many texts to embed"),
        ),
        examples=(
            "recall rechunk --chunk-tokens 200 --overlap-tokens 40 --dry-run",
            "recall rechunk --chunk-tokens 200 --overlap-tokens 40",
        ),
        note="What no flag says is as in recall.toml. Interrupted, the same command goes on where it was.",
    ),
    Command(
        "warm",
        "Embed ahead what the reranker will read, so that no question has to wait for it.",
        on_store("commands:warm"),
        in_lines("render:warmed"),
        flags=(
            Flag("--queries", "what these questions need: JSON lines of {_id, text} (BEIR), or TSV", "FILE"),
            Flag("--all", "every text of the store, as far as rerank_mb has room"),
            Flag("--budget-s", "end after S seconds with what is made by then", "S", is_seconds=True),
            Flag("--set", "override a ranking setting for this run, such as rerank", "KEY=VALUE", many=True),
        ),
        examples=(
            "recall warm --all",
            "recall warm --queries queries.jsonl --set rerank=minilm",
            "recall warm --all --budget-s 600 --json",
        ),
        note="Interrupted or out of time, the same command goes on where it was.",
    ),
)
