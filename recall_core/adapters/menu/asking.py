"""The commands that ask: search, query, context, and those that explain or compare their answers."""

from recall_core.adapters.flags import (
    ALL_WORDS,
    AS_ROWS,
    BY_MEANING,
    CHECKS,
    EXPLAIN,
    PASSAGE,
    QUESTION,
    RECEIPT,
    RQL,
    SET,
    TIMEOUT,
    VERBOSE,
    WORDS,
    Command,
    Flag,
    K,
    Operand,
    in_lines,
    later,
    on_store,
)

_RAW = Flag("--raw", "on a terminal too, every byte as it is; else control characters are escaped there")
_ACCOUNT = Flag("--explain", "say what the context is worth, lacks and spends")

COMMANDS: tuple[Command, ...] = (
    Command(
        "search",
        "Find the chunks that answer a question, best first.",
        on_store("commands:search"),
        later("hits:lines"),
        Operand("WORDS", WORDS, most=None),
        (K, *PASSAGE, *QUESTION, RECEIPT, *AS_ROWS, BY_MEANING, VERBOSE),
        (
            'recall search "zero-downtime deploy" -n 5',
            "recall search retries --filter \"doc.tag = 'docs'\" --explain",
            "recall search '\"exact phrase\" other words' --bm25 --json",
            "recall search retries -l | xargs ls -l",
            "recall search retries -q && echo known",
        ),
    ),
    Command(
        "query",
        "Answer a question in RQL, the query language.",
        on_store("commands:query"),
        later("hits:lines"),
        Operand("RQL", "the query: text, @FILE, or - for stdin; or give --rql", least=0, most=None),
        (RQL, *PASSAGE, ALL_WORDS, EXPLAIN, SET, *CHECKS, TIMEOUT, RECEIPT, *AS_ROWS, BY_MEANING, VERBOSE),
        (
            "recall query \"SELECT doc.path, score FROM chunk USING lexical('retry') LIMIT 5\"",
            "recall query --rql @nightly.rql --json",
            "echo \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\" | recall query -",
        ),
    ),
    Command(
        "rql",
        "Help with writing RQL: check or format a query, explain what it does, complete it at a cursor.",
        later("rql:run"),
        later("rql:pieces"),
        Operand(
            "ACTION",
            "check, format, explain or complete; then the query: text, @FILE, or - for stdin",
            most=None,
            actions=("check", "format", "explain", "complete"),
        ),
        (
            RQL,
            Flag("--write", "format: put the result back into the file of @FILE"),
            Flag("--cursor", "complete: the place in code points, by default the end of the text", "N", least=0),
            SET,
            TIMEOUT,
        ),
        (
            "recall rql check @nightly.rql",
            "recall rql format --write @nightly.rql",
            "recall rql explain \"SELECT doc.path FROM doc FILTER doc.tag = 'docs'\"",
            "recall rql complete 'SELECT * FROM chunk FILTER doc.t' --json",
        ),
        note="check and format need no store; complete suggests the values of one where there is one.",
        is_text=True,
    ),
    Command(
        "context",
        "Pack the best chunks, with their sources, into a text that fits a token budget.",
        on_store("commands:context"),
        later("render:context"),
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            RQL,
            Flag("--budget-tokens", "tokens the whole text may have", "N", least=1),
            Flag("--k", "pack no more than the best N chunks (all)", "N", least=0, short="-n"),
            Flag("--diversity", "most chunks of one document, 0 for no cap", "N", least=0),
            Flag(
                "--counter",
                "count tokens with approx-2 (the default), approx:modern, whitespace, approx or hf:FILE",
                "NAME",
            ),
            Flag(
                "--format",
                "how blocks are written (plain); json is --json",
                "FORMAT",
                choices=("plain", "markdown", "xml", "json"),
            ),
            Flag("--numbers", "begin every line of a block with its number"),
            Flag("--lean", "in JSON leave out the texts of chunks and blocks, which stand in the context's own"),
            Flag("--pack", "fill by rank order, or by most value", "POLICY", choices=("rank", "optimal")),
            Flag("--pin", "pack this chunk first", "ID", many=True),
            Flag("--drop", "leave this chunk out", "ID", many=True),
            _RAW,
            *(_ACCOUNT if flag is EXPLAIN else flag for flag in QUESTION),
            RECEIPT,
            VERBOSE,
        ),
        (
            'recall context "how we handle retries" --budget-tokens 1200 --diversity 2',
            "recall context retries --format markdown > context.md",
            "recall context --rql \"SELECT * FROM chunk USING lexical('retry')\" --json",
        ),
        is_text=True,
    ),
    Command(
        "replay",
        "Run the query of a receipt again, and say whether the answer is the same.",
        on_store("receipts:replay"),
        in_lines("receipts:lines"),
        Operand("FILE", "a receipt that --receipt wrote"),
        (TIMEOUT,),
        (
            "recall replay retries.json",
            "recall replay retries.json --json",
        ),
        note="Exit 0 when the answer is identical, 7 with what was edited, deleted, relabelled or set otherwise.",
    ),
    Command(
        "get",
        "Print the text of a document, of a chunk or of some lines, byte for byte.",
        on_store("commands:get"),
        later("render:text"),
        Operand("TARGET", "a path, path:FIRST-LAST, or an id (six digits are enough)"),
        (_RAW, TIMEOUT),
        examples=("recall get docs/deploy.md", "recall get docs/deploy.md:10-24", "recall get 3f2a9c"),
        is_text=True,
    ),
    Command(
        "ls",
        "List the documents of the store by path, one a line.",
        on_store("listing:ls"),
        later("listing:paths"),
        Operand(
            "PREFIX", "what the paths begin with, as recall prints them; a folder's name is all below it", least=0
        ),
        (
            Flag("--glob", "only paths that match; * and ? stay in one folder, ** goes through any", "PATTERN"),
            Flag("--long", "also show chunks, tokens, when it was changed, and the title", short="-l"),
            Flag("--k", "at most N documents (all)", "N", least=0, short="-n"),
            Flag("--offset", "pass over the first N", "N", least=0),
            TIMEOUT,
        ),
        ("recall ls", "recall ls notes/ --glob '**/*.md' -l", "recall ls src -n 100 --offset 200 --json"),
        is_text=True,
        prints_all=later("listing:rows"),
    ),
)

LEDGER: tuple[Command, ...] = (
    Command(
        "explain",
        "Show why a chunk, or the first hit, scores what it scores for a question, down to words.",
        on_store("ledger:explain"),
        in_lines("ledger:lines"),
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag(
                "--chunk",
                "the chunk: its id (six digits do) or path:LINE (the first hit)",
                "TARGET",
            ),
            Flag("--vs", "another chunk to compare it with, word by word", "TARGET"),
            RQL,
            K,
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        (
            'recall explain "zero-downtime deploy"',
            'recall explain "zero-downtime deploy" --chunk docs/deploy.md:40',
            "recall explain retries --chunk 3f2a9c --vs 81b04d",
            "recall explain --rql @nightly.rql --chunk 3f2a9c --json",
        ),
    ),
)

_ASKING = tuple(flag for flag in QUESTION if flag is not EXPLAIN and flag.name != "--strict-fresh")

_PACKING = (
    Flag("--budget-tokens", "explain the context of this many tokens instead of the list", "N", least=1),
    Flag("--diversity", "at most N chunks of one document in that context, 0 for no cap", "N", least=0),
    Flag(
        "--counter",
        "count its tokens with this counter: approx-2, approx:modern, whitespace, approx or hf:FILE",
        "NAME",
    ),
)

MISSING: tuple[Command, ...] = (
    Command(
        "whynot",
        "Say why a document, a line, a chunk or a text is not in an answer, and what would bring it in.",
        on_store("whynot:whynot"),
        in_lines("whynot:lines"),
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag("--target", 'what is missing: a path, path:LINE, an id, or "its text"', "TARGET"),
            Flag("--no-fixes", "do not look for changes that would bring it in"),
            Flag("--all", "show every stage, the target's other chunks and the proof as well"),
            RQL,
            K,
            *_PACKING,
            *_ASKING,
        ),
        (
            'recall whynot "how we handle retries" --target docs/retries.md',
            "recall whynot retries --target docs/retries.md:120 --k 5 --bm25",
            "recall whynot retries --target 'three times' --budget-tokens 800 --json",
        ),
        note="Exit 0 when the target is in the answer, 7 when it is not, 8 when nothing has that name.",
        prints_all=in_lines("whynot:all_lines"),
    ),
    Command(
        "trace",
        "Show how many rows are left after each step from the store to an answer, and what each step took.",
        on_store("whynot:trace"),
        in_lines("whynot:lines"),
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (RQL, K, *_PACKING, *_ASKING),
        (
            "recall trace retries --filter \"doc.tag = 'docs' AND doc.mtime >= '2024-01-01'\"",
            'recall trace "how we handle retries" --budget-tokens 1200 --json',
        ),
    ),
)

_COMPARED = tuple(
    flag
    for flag in QUESTION
    if flag.name
    in ("--bm25", "--vector", "--filter", "--no-sparse", "--all-copies", "--min-cosine", "--all-words", "--set")
)

_EXACT = tuple(flag for flag in QUESTION if flag.name == "--exact")

COMPARING: tuple[Command, ...] = (
    Command(
        "diff",
        "Compare two rankings of the same question: two configurations, two stores, or both.",
        later("comparing:diff"),
        in_lines("comparing:lines"),
        Operand("WORDS", WORDS + "; or give --rql or --queries", least=0, most=None),
        (
            Flag("--a", "the first side: a recall.toml, or settings with commas", "CONFIG", many=True),
            Flag("--b", "the second side", "CONFIG", many=True),
            Flag("--a-store", "the first side's store, where it is another", "PATH"),
            Flag("--b-store", "the second side's store", "PATH"),
            RQL,
            Flag("--queries", "ask these questions: JSON lines of {_id, text} (BEIR), or TSV", "FILE"),
            K,
            Flag("--gate", 'exit 7 unless these hold: "rbo>=.9,jaccard>=.8"', "CONDITIONS"),
            *_COMPARED,
            *_EXACT,
            TIMEOUT,
        ),
        (
            "recall diff retries --b semantic_weight=0.5",
            "recall diff --queries queries.jsonl --b other.toml --gate 'rbo>=.9,firsts_changed<=2'",
            'recall diff "zero-downtime deploy" --b-store ../other/recall.db --json',
        ),
    ),
    Command(
        "report",
        "Write a question's results, ledgers, rank lines and context on one page that needs nothing else.",
        on_store("report:report"),
        in_lines("report:lines"),
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            Flag("--html", "write an HTML page here; - for stdout", "FILE"),
            Flag("--md", "write Markdown here; - for stdout", "FILE"),
            RQL,
            K,
            Flag("--budget-tokens", "tokens the context may have", "N", least=1),
            Flag("--pack", "fill the context by rank order, or by most value", "POLICY", choices=("rank", "optimal")),
            *(flag for flag in QUESTION if flag is not EXPLAIN),
        ),
        (
            'recall report "zero-downtime deploy" --html report.html',
            "recall report retries --k 5 --md - | less",
        ),
        note="With - the page is stdout's only content; with --json the answer then goes to stderr.",
    ),
)
