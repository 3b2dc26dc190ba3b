"""The commands that ask: search, query, rql, context, get."""

from recall_core.adapters.flags import CHECKS, EXPLAIN, QUESTION, RQL, SET, WORDS, Command, Flag, K, Operand

_ACCOUNT = Flag("--explain", "say what the context is worth, lacks and spends")

COMMANDS: tuple[Command, ...] = (
    Command(
        "search",
        "Find the chunks that answer a question, best first.",
        Operand("WORDS", WORDS, most=None),
        (K, *QUESTION),
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
        (RQL, EXPLAIN, SET, *CHECKS),
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
            RQL,
            Flag("--write", "format: put the result back into the file of @FILE"),
            Flag("--cursor", "complete: the place in code points, by default the end of the text", "N", least=0),
            SET,
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
        Operand("WORDS", WORDS + "; or give --rql", least=0, most=None),
        (
            RQL,
            Flag("--budget-tokens", "tokens the whole text may have", "N", least=1),
            Flag("--k", "pack no more than the best N chunks (all)", "N", least=0),
            Flag("--diversity", "most chunks of one document, 0 for no cap", "N", least=0),
            Flag("--counter", "count tokens with this counter: whitespace, approx or hf:FILE", "NAME"),
            Flag("--format", "how blocks are written (plain)", "FORMAT", choices=("plain", "markdown")),
            Flag("--pack", "fill by rank order, or by most value", "POLICY", choices=("rank", "optimal")),
            Flag("--pin", "pack this chunk first", "ID", many=True),
            Flag("--drop", "leave this chunk out", "ID", many=True),
            *(_ACCOUNT if flag is EXPLAIN else flag for flag in QUESTION),
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
)
