"""The commands about embedders: embedders, reembed."""

from recall_core.adapters.flags import Command, Flag, Operand

COMMANDS: tuple[Command, ...] = (
    Command(
        "embedders",
        "List the embedders: which can be used here, why not the others, and what each is good for.",
        flags=(Flag("--probe", "also measure how many texts each available one embeds in a second"),),
        examples=("recall embedders", "recall embedders --probe --json"),
    ),
    Command(
        "reembed",
        "Make every vector anew with another embedder; questions use the old vectors until all new ones are there.",
        Operand("NAME", "an embedder as recall embedders names it, or auto"),
        (Flag("--set", "write this setting into recall.toml too", "KEY=VALUE", many=True),),
        ("recall reembed local", "recall reembed openai --set embedding_model=text-embedding-3-small"),
        note="Interrupted, the same command goes on where it was.",
    ),
)
