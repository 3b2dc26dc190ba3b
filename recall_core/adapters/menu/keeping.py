"""The commands that fill a store and keep it in order, and those that need no store."""

from recall_core.adapters.flags import MODE, TIMEOUT, Command, Flag, Operand, in_lines, later, on_store

FILLING: tuple[Command, ...] = (
    Command(
        "init",
        "Create recall.db and recall.toml in a folder.",
        later("commands:init"),
        in_lines("render:store"),
        Operand("DIR", "the folder, by default this one", least=0),
        (
            Flag("--embedding", "the embedder that makes the vectors (hash)", "NAME"),
            Flag("--set", "write this setting into recall.toml", "KEY=VALUE", many=True),
            MODE,
        ),
        ("recall init", "recall init ~/notes --set chunk_tokens=200"),
        then=later("commands:created"),
    ),
    Command(
        "add",
        "Read files and folders into the store; what did not change costs nothing.",
        on_store("commands:add"),
        in_lines("render:ingested"),
        Operand("PATH", "a file, or a folder that is remembered for sync", most=None),
        (
            Flag("--glob", "only files that match, relative to the folder", "PATTERN", many=True),
            Flag("--ignore", "not these files", "PATTERN", many=True),
            Flag("--tag", "a tag for every document", "TAG", many=True),
            Flag("--source", "a label that says where the documents come from", "LABEL"),
            Flag("--meta", "a value kept with every document", "KEY=VALUE", many=True),
            Flag(
                "--parser",
                "text: one document a file, jsonl: one a line, auto (the default): as added before, else text",
                "NAME",
            ),
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
        "List what was added, and what is left out of it; accept folders that came with an import.",
        on_store("commands:roots"),
        in_lines("render:roots"),
        Operand("ACTION", "accept, then the numbers of the roots that wait", least=0, most=None, actions=("accept",)),
        examples=("recall roots", "recall roots accept 2"),
    ),
    Command(
        "sync",
        "Bring every added folder up to date: new, changed and vanished files.",
        on_store("commands:sync"),
        in_lines("render:ingested"),
        flags=(Flag("--watch", "go on with every change, until Ctrl-C"),),
        examples=("recall sync", "recall sync --watch", "recall sync --json"),
    ),
)

CARE: tuple[Command, ...] = (
    Command(
        "stats",
        "Say what the store holds.",
        on_store("commands:stats"),
        in_lines("render:store"),
        flags=(TIMEOUT,),
        examples=("recall stats", "recall stats --json"),
    ),
    Command(
        "doctor",
        "Check the store and say how to mend it; exit 6 when something is broken.",
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
        "Drop removed documents for good and give the disk space back.",
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
        in_lines("render:transferred"),
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
            Flag("--with-roots", "also sync the folders that it names outside of the store's folder"),
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
        "embedders",
        "List the embedders: which can be used here, why not the others, and what each is good for.",
        later("commands:embedders"),
        in_lines("render:embedders"),
        flags=(Flag("--probe", "also measure how many texts each available one embeds in a second"),),
        examples=("recall embedders", "recall embedders --probe --json"),
    ),
    Command(
        "reembed",
        "Make every vector anew with another embedder; questions use the old vectors until all new ones are there.",
        on_store("commands:reembed"),
        in_lines("render:reembedded"),
        Operand("NAME", "an embedder as recall embedders names it, or auto"),
        (Flag("--set", "write this setting into recall.toml too", "KEY=VALUE", many=True),),
        ("recall reembed local", "recall reembed openai --set embedding_model=text-embedding-3-small"),
        note="Interrupted, the same command goes on where it was.",
    ),
)
