"""recall.toml: all settings with type, default and bounds, read into a frozen Config."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isnan
from pathlib import Path
from string import Formatter
from typing import Any, TypeAlias

from recall_core import paths
from recall_core._lazy import difflib, tomllib
from recall_core.errors import ConfigError, UsageError, why_unread
from recall_core.named import NamedTuple
from recall_core.shell import Hint, flag

_ESCAPED = {"n": "\n", "t": "\t"}
_PLAIN_LINES, _DIGITS = 1_000, 300  # limits of the fast reader; tomllib reads anything larger


def read_toml(path: Path) -> dict[str, Any]:
    """Return the unchecked contents of a recall.toml, {} if it is missing. Raises ConfigError `config_invalid`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("config_invalid", f"{path} cannot be read: {why_unread(error)}.") from error
    values = plain(text)
    if values is not None:
        return values

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("config_invalid", f"{path}: {error}", hint=f"edit {path}") from error


def plain(text: str) -> dict[str, Any] | None:
    """Parse a file with one `key = simple value` per line, as `render` writes it, also below lines such as `[init]`.

    Return None for other files.
    """
    whole: dict[str, Any] = {}
    values = whole
    for number, line in enumerate(text.split("\n")):
        line = line.strip(" \t")  # noqa: PLW2901 - surrounding blanks have no meaning
        if not line.isprintable() or number > _PLAIN_LINES:
            return None
        if line and not line.startswith("#"):
            is_table = line[0] == "[" and line[-1] == "]"
            name, _, value = (line[1:-1], "", "") if is_table else line.partition("=")
            key, target = name.strip(" "), whole if is_table else values
            simple: Any = {} if is_table else _simple(value.strip(" "))
            if not (key.isascii() and key.replace("_", "a").isalnum()) or simple is None or key in target:
                return None
            target[key] = simple
            values = simple if is_table else values
    return whole


def _simple(value: str) -> bool | int | float | str | None:
    """Parse an integer, decimal, boolean, or a text whose only escapes are line ends and tabs; else return None."""
    if value in ("true", "false"):
        return value == "true"
    if len(value) > 1 and value[0] == value[-1] == '"':
        first, *others = value[1:-1].split("\\")
        is_plain = '"' not in value[1:-1] and all(each[:1] in ("n", "t") for each in others)
        return first + "".join(_ESCAPED[each[0]] + each[1:] for each in others) if is_plain else None
    whole, point, part = value.removeprefix("-").partition(".")
    is_number = value.isascii() and whole.isdigit() and (whole[0] != "0" or whole == "0") and len(value) < _DIGITS
    if not is_number or (point and not part.isdigit()):
        return None
    return float(value) if point else int(value)


def to_toml(value: object) -> str:
    """Return the value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return '"' + re.sub(r"[\0-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
    return repr(value)


FILE_NAME = "recall.toml"
RRF_K = 60  # Cormack, Clarke and Buettcher 2009
BM25_K1 = 1.2  # fixed in FTS5's bm25()
SEARCH_K = 10  # hits of a search without --k
EXACT_VECTORS = 20_000  # up to this many live vectors, every filtered row is a candidate
MEMORY_MB = 512  # most megabytes of a store that a process caches
LEAST_WEIGHT = 1e-9  # weights whose sum is smaller count as 0: dividing by it would overflow
SHORTLIST = 500  # rows that an index proposes, whose cosines are computed
OPTIMAL_ROWS = 200  # candidates of optimal packing
BUSY_TIMEOUT_MS = 5_000
EMBEDDED = "titled"  # input of embedders for a chunk: the document's title and the chunk's text
EXPIRED = " expired"  # appended to the settings of a session file whose documents were removed for their age
EDITED = " edited"  # appended to the settings of a file after its root changed, until the next sync
CHUNKER_VERSION = 1  # raised when ingest/chunk.py splits any text differently
COMMIT_SECONDS = 2.0  # an interrupted ingest loses at most this much work
NO_VECTORS = "none"  # embedder of stores without vectors
DAY_NS = 86_400 * 10**9
WATCH_REST_MS = 200  # pause after the last change before a sync: editors save in several steps
WATCH_MOST_MS = 2_000  # a folder that changes all the time is synced this often

_ESCAPE = r"\\(?:([\\nrtf])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))"
_LETTERS = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t", "f": "\f"}

SettingValue: TypeAlias = str | int | float | bool
Settings: TypeAlias = Mapping[str, SettingValue]
"""Setting values by name."""
GivenSettings: TypeAlias = Settings | Sequence[str]
"""Settings by name, or as `key=value` texts."""


class Config(NamedTuple):
    """All settings, in the order in which they are written and shown."""

    store_path: str = "recall.db"
    base: str = ""
    vectors: bool = True
    embedding: str = "hash"
    embedding_dim: int = 512
    embedding_model: str = ""
    embedding_url: str = ""
    embedding_fallback: str = "hash"
    allow_network: bool = False
    language: str = "auto"
    counter: str = "whitespace"
    chunk_tokens: int = 400
    overlap_tokens: int = 80
    max_chunk_chars: int = 6_000
    max_file_bytes: int = 64 * 1024 * 1024
    fusion: str = "weighted"
    normalize: str = "bound"
    bm25_weight: float = 0.9
    vector_weight: float = 0.1
    rrf_k: int = RRF_K
    min_score: float = 0.0
    min_cosine: float = 0.0
    match: str = "any"
    stop_words: str = "english"
    title_weight: float = 3.0
    lexical_model: str = "fts5"
    bm25_k1: float = BM25_K1
    bm25_b: float = 0.75
    rerank: str = ""
    rerank_rows: int = 50
    rerank_weight: float = 0.5
    rerank_keep: bool = False
    rerank_mb: int = 256
    memory_mb: int = MEMORY_MB
    sparse_recall: bool = True
    sparse_chunk_threshold: int = 2
    sparse_distance_ceiling: float = 0.2
    sparse_max_injections: int = 1
    sparse_share: float = 0.0
    collapse: bool = True
    pool: int = 200
    max_limit: int = 10
    pack_counter: str = ""
    budget_tokens: int = 2_000
    diversity: int = 0
    min_fragment: int = 16
    pack: str = "rank"
    header: str = "[{n}] {path}:{lines}"
    footer: str = ""
    separator: str = "\n\n"
    line_numbers: bool = False
    strict: bool = False
    vector_index: str = "auto"
    ann_bits: int = 1_024
    ann_seed: int = 0
    guess_encoding: bool = False
    session_min_bytes: int = 0
    session_min_messages: int = 0
    retention_days: int = 0
    sync_on_boot: bool = False
    sync_on_session: bool = False
    sync_on_search_ms: int = 0
    sync_on_change: bool = False
    sync_interval_s: int = 0
    parsers: tuple[tuple[str, str], ...] = ()  # the table [parsers]: (glob, name), in order


class Setting(NamedTuple):
    """Description and bounds of a setting. live: a query may override it with --set; others belong to the store."""

    doc: str
    live: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


class SettingTable(NamedTuple):
    """Settings and their defaults, by key. The type of a default is the type of its setting."""

    settings: Mapping[str, Setting]
    defaults: Mapping[str, Any]


SETTINGS: dict[str, Setting] = {
    "store_path": Setting("database file, relative to this file"),
    "base": Setting(
        "folder that paths of documents are relative to, relative to this file; empty for the database's"
    ),
    "vectors": Setting("store vectors, for search by meaning; without them words alone count"),
    "embedding": Setting(f"embedder of the semantic signal, see {Hint('embedders')}"),
    "embedding_dim": Setting("components of a hash vector, a power of two", least=16, most=65_536),
    "embedding_model": Setting("model of a provider, empty for its default"),
    "embedding_url": Setting("URL of an OpenAI-compatible server, empty for the provider's own"),
    "embedding_fallback": Setting("embedder that auto uses if nothing better is available"),
    "allow_network": Setting("allow embedders to send text to other machines"),
    "language": Setting(
        "language of the documents: stems of de; none for no stems; auto decides at the first add",
        choices=("auto", "none", *"da de en es fi fr hu it nl no pt ro ru sv tr".split()),
    ),
    "counter": Setting("token counter: whitespace, approx, approx-2, approx:modern, hf:tokenizer.json or a plug-in"),
    "chunk_tokens": Setting("target number of tokens per chunk", least=1, most=100_000),
    "overlap_tokens": Setting("tokens that neighbouring chunks share", least=0, most=50_000),
    "max_chunk_chars": Setting("most characters per chunk", least=16, most=1_000_000),
    "max_file_bytes": Setting("skip larger files when walking a folder", least=1),
    "fusion": Setting("how signals are combined", live=True, choices=("weighted", "rrf")),
    "normalize": Setting("how raw scores are normalized", live=True, choices=("bound", "max", "minmax")),
    "bm25_weight": Setting("weight of the lexical signal (matching words)", live=True, least=0, most=1_000),
    "vector_weight": Setting("weight of the semantic signal (similar meaning)", live=True, least=0, most=1_000),
    "rrf_k": Setting("constant of reciprocal rank fusion (rrf)", live=True, least=0, most=1_000_000),
    "min_score": Setting("drop hits below this score", live=True, least=0, most=1),
    "min_cosine": Setting("drop hits without a query word below this cosine", live=True, least=0, most=1),
    "match": Setting("query words that must be present", live=True, choices=("any", "all")),
    "stop_words": Setting(
        "unquoted words to ignore: none; function words; also leftovers (e.g., 'd); also question phrases",
        live=True,
        choices=("none", "english", "leftovers", "questions"),
    ),
    "title_weight": Setting("weight of words in the title", live=True, least=0, most=1_000),
    "lexical_model": Setting(
        "formula that scores matching words; ts_rank only in Postgres",
        live=True,
        choices=("fts5", "bm25f", "ts_rank"),
    ),
    "bm25_k1": Setting("how soon repeated words stop adding to the score (bm25f)", live=True, least=0, most=100),
    "bm25_b": Setting("penalty for long texts (bm25f)", live=True, least=0, most=1),
    "rerank": Setting("reranker of the best rows, empty for none", live=True),
    "rerank_rows": Setting("rows to rerank", live=True, least=1, most=10_000),
    "rerank_weight": Setting("the reranker's share of the score", live=True, least=0, most=1),
    "rerank_keep": Setting("store the reranker's vectors, so that no text is embedded twice"),
    "rerank_mb": Setting(
        "most megabytes of reranker vectors, oldest dropped first; 0 for none", least=0, most=1_000_000
    ),
    "memory_mb": Setting(
        "most megabytes of the store that a process caches from its second query on; 0 for none",
        least=0,
        most=1_000_000,
    ),
    "sparse_recall": Setting(
        "sparse-document recall: give the last row to a near chunk of a short document", live=True
    ),
    "sparse_chunk_threshold": Setting("most chunks of a short document", live=True, least=1),
    "sparse_distance_ceiling": Setting("largest distance (1 - cosine) of a near chunk", live=True, least=0, most=2),
    "sparse_max_injections": Setting("most rows that sparse-document recall takes", live=True, least=0),
    "sparse_share": Setting(
        "share of a context reserved for short documents, 0 for none", live=True, least=0, most=0.5
    ),
    "collapse": Setting("show copies of a text once, at their best rank", live=True),
    "pool": Setting(
        "candidates per signal in stores with more than 20,000 vectors", live=True, least=1, most=1_000_000
    ),
    "max_limit": Setting("rows of an RQL query without LIMIT", live=True, least=0),
    "pack_counter": Setting(
        "token counter of a context's budget; empty: the store's if made for its models, else approx-2",
        live=True,
    ),
    "budget_tokens": Setting("token budget of a context", live=True, least=1),
    "diversity": Setting("most chunks per document in a context, 0 for no limit", live=True, least=0),
    "min_fragment": Setting("fewest tokens of a truncated last chunk", live=True, least=1),
    "pack": Setting(
        "how a context is packed: in rank order, or for the highest total value",
        live=True,
        choices=("rank", "optimal"),
    ),
    "header": Setting("line above each block: {n} {path} {lines} {title} {heading}", live=True),
    "footer": Setting("line below each block, empty for none", live=True),
    "separator": Setting("text between blocks", live=True),
    "line_numbers": Setting("start every line of a block with its line number", live=True),
    "strict": Setting("turn RQL compatibility warnings into errors", live=True),
    "vector_index": Setting(
        "vector search above 20,000 vectors; lsh (files) and hnsw (Postgres) may miss some rows",
        choices=("auto", "exact", "lsh", "hnsw"),
    ),
    "ann_bits": Setting("bits of a signature (lsh), a multiple of 64", least=64, most=8_192),
    "ann_seed": Setting("seed of the hyperplanes that make signatures (lsh)", least=0, most=2**63 - 1),
    "guess_encoding": Setting("guess the encoding of files that are not UTF-8 and do not declare one"),
    "session_min_bytes": Setting("sync a grown session (transcript) once it has this many new bytes", least=0),
    "session_min_messages": Setting("or this many new messages; 0 and 0 sync every change", least=0),
    "retention_days": Setting(
        "remove sessions that did not change for this many days, 0 to keep all", least=0, most=100_000
    ),
    "sync_on_boot": Setting("servers: sync at the start"),
    "sync_on_session": Setting("servers: sync when a client's session starts"),
    "sync_on_search_ms": Setting(
        "servers: before a search, sync changed files for at most this long, 0 for never", least=0, most=600_000
    ),
    "sync_on_change": Setting("servers: sync 1.5 s after files change"),
    "sync_interval_s": Setting("servers: seconds between syncs, 0 for none", least=0, most=31_536_000),
}


_OF_STORES = SettingTable(SETTINGS, Config._field_defaults)

NEW: Settings = {"stop_words": "questions", "rerank_keep": True, "sparse_share": 0.15}
"""Settings of new stores that differ from the defaults in Config. A recall.toml without a line for a setting uses the
default."""

NAMES = {"bm25_weight": "lexical_weight", "vector_weight": "semantic_weight"}
"""Current names of settings with older keys. Files, --set and OPTION accept both; answers use the key."""

KEYS = {name: key for key, name in NAMES.items()}
"""The key for each name."""

EMBEDDING = ("vectors", *(key for key in SETTINGS if key.startswith("embedding")), "allow_network")
"""The settings that choose the embedder."""

SYNCING = tuple(key for key in SETTINGS if key.startswith("sync_"))
"""When a server syncs a store by itself."""

_OF_THE_VECTORS = ("embedding_dim", "embedding_model")  # changing these changes the vectors of the same embedder
CUTTING = ("chunk_tokens", "overlap_tokens", "max_chunk_chars", "counter")
"""The chunking settings. A store uses the values from its creation or its last rechunk."""


def load(path: Path) -> Config:
    """Return the Config of a recall.toml, or the defaults if it is missing. `onnx:DIR` is relative to the file.

    Raises ConfigError `config_invalid` (not TOML), `unknown_key`, `bad_value`.
    """
    values, where = read_toml(path), str(path)
    parsers = _parsers(values.pop("parsers", {}), where=where)
    return _anchor_paths(
        replace(Config(), values, where=where)._replace(parsers=parsers), path.parent.absolute().joinpath
    )


def anchor(name: str, absolute: Callable[[Path], Path]) -> str:
    """Return an embedder's name, with the DIR of `onnx:DIR` made absolute."""
    kind, _, argument = name.partition(":")
    return f"onnx:{absolute(paths.expand(argument))}" if kind == "onnx" and argument else name


def replace(config: Config, values: Mapping[str, Any], *, where: str) -> Config:
    """Return the config with these settings, by key or name, after checking them. where: their origin, for errors."""
    expect_once(values, where=where)
    checked: dict[str, Any] = {
        KEYS.get(key, key): check(KEYS.get(key, key), value, where=where, name=key) for key, value in values.items()
    }
    return _coherent(config._replace(**checked), where=where)


def override(config: Config, settings: GivenSettings) -> Config:
    """Return the config for one query. Accepts live settings only. Texts are `key=value`, as for --set."""
    if not settings:
        return config
    for assignment in assignments(settings):
        key, _, text = assignment.partition("=")
        key = key.strip()
        if key in SETTINGS and not SETTINGS[key].live:
            raise UsageError(
                "setting_fixed",
                f"{key} belongs to the store and cannot be set for one query.",
                hint=_elsewhere(key, text, config),
            )
    return assign(config, settings, where=flag("set"))


def assign(config: Config, settings: GivenSettings, *, where: str) -> Config:
    """Return the config with these settings. Texts are `key=value`, spelled as on a command line."""
    values = _read_given(settings, where=where)
    return replace(config, values, where=where) if values else config


def settings_of(settings: GivenSettings, *, where: str) -> Settings:
    """Return settings as unchecked values by key. Texts are parsed. The last of a repeated name wins.

    Raises UsageError `bad_value`, or ConfigError `bad_value` if a setting is given by key and by name.
    """
    given = _read_given(settings, where=where)
    expect_once(given, where=where)
    return by_key(given)


def by_key(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by key. The given ones may use names."""
    return {KEYS.get(name, name): value for name, value in settings.items()}


def by_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their current name. The given ones use keys."""
    return {NAMES.get(key, key): value for key, value in settings.items()}


def expect_once(given: Iterable[str], *, where: str) -> None:
    """Raise ConfigError `bad_value` if a setting is given by its key and by its name."""
    names = set(given)
    for key, name in NAMES.items():
        if key in names and name in names:
            message = f"{where}: {name} and {key} are names of the same setting."
            raise ConfigError("bad_value", message, hint=f"leave out {key}")


def assignments(settings: GivenSettings) -> tuple[str, ...]:
    """Return settings as texts for --set. Texts stay unchanged.

    >>> assignments({"pool": 20, "sparse_recall": False})
    ('pool=20', 'sparse_recall=false')
    """
    if isinstance(settings, Mapping):
        return tuple(f"{key}={_spelt(value)}" for key, value in settings.items())
    return tuple(settings)


def chunker_identity(config: Config) -> str:
    """Return the chunker's name, version and limits. Equal identities split a text in the same way."""
    return f"boundary-{CHUNKER_VERSION}:{config.chunk_tokens}:{config.overlap_tokens}:{config.max_chunk_chars}"


def cut_as(config: Config, *, chunker: str, counter: str) -> Config:
    """Return the settings with the limits of the chunker with this identity, and this counter."""
    limits = dict(zip(CUTTING, map(int, chunker.split(":")[1:]), strict=False))
    return config._replace(**limits, counter=counter)  # type: ignore[arg-type]  # values of its own fields


def find_outdated(config: Config, toml: Path) -> dict[str, SettingValue]:
    """Return the settings of NEW that this recall.toml does not set, with their values for new stores."""
    values = read_toml(toml)
    return {key: value for key, value in NEW.items() if key not in values and getattr(config, key) != value}


def render(config: Config) -> str:
    """Return this config as a recall.toml, with a comment for each key."""
    lines = ["# Recall settings. If a line is missing, Recall uses the default from before that setting existed."]
    for key, setting in SETTINGS.items():
        value = getattr(config, key)
        choices = f" ({' | '.join(setting.choices)})" if len(setting.choices) > 1 else ""
        lines.append(f"\n# {setting.doc}{choices}\n{NAMES.get(key, key)} = {to_toml(value)}")
    if config.parsers:
        table = [f"{to_toml(glob)} = {to_toml(name)}" for glob, name in config.parsers]
        lines += ["\n# parsers by file name pattern\n[parsers]", *table]
    return "\n".join(lines) + "\n"


def _parsers(table: object, *, where: str) -> tuple[tuple[str, str], ...]:
    if isinstance(table, dict) and all(isinstance(name, str) for name in table.values()):
        return tuple(table.items())
    raise ConfigError(
        "bad_value", f"{where}: [parsers] takes one parser name per pattern.", hint='[parsers] "*.log" = "text"'
    )


def _read_given(settings: GivenSettings, *, where: str) -> Settings:
    """Return settings as values by the given names."""
    if isinstance(settings, Mapping):
        return settings
    values: dict[str, SettingValue] = {}
    for assignment in settings:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError("bad_value", f"{where} {assignment} has no value.", hint=f"{where} {key}=VALUE")
        key = key.strip()
        values[key] = from_text(KEYS.get(key, key), text, where=where)
    return values


def _elsewhere(key: str, text: str, config: Config) -> str:
    """Return the hint that sets this value for the store."""
    if key == "embedding":
        return Hint("reembed", text or "NAME")
    if key in _OF_THE_VECTORS:
        return Hint("reembed", config.embedding, set=f"{key}={text or 'VALUE'}")
    if key == "language":
        return Hint("reindex", language=text or "NAME")
    if key in CUTTING:
        return Hint("rechunk", **{key: text or "VALUE"})
    return f"set {key} in {FILE_NAME}"


def _anchor_paths(config: Config, absolute: Callable[[Path], Path]) -> Config:
    names = (config.embedding, config.embedding_fallback, config.rerank)
    embedding, fallback, rerank = (anchor(name, absolute) for name in names)
    return config._replace(embedding=embedding, embedding_fallback=fallback, rerank=rerank)


def check(
    key: str,
    value: Any,
    *,
    where: str,
    name: str,
    table: SettingTable = _OF_STORES,
    example: str = "{name} = {value}",
) -> Any:
    """Check and return the value of a setting. name: the name it was given by. example: how to give it, for hints.

    Raises ConfigError `unknown_key`, `bad_value`.
    """
    if key not in table.settings:
        names = [NAMES.get(each, each) for each in table.settings]
        near = _nearest(str(key), (*names, *(each for each in NAMES if each in table.settings)))
        known = ", ".join(names)
        hint = f"did you mean {near}?" if near else f"known keys: {known}"
        raise ConfigError("unknown_key", f"{where} has no setting {key!r}.", hint=hint)
    kind = type(table.defaults[key])
    example = example.format(name=name, value=to_toml(table.defaults[key]))
    if kind is float and type(value) is int:
        value = _float(value)
    if type(value) is not kind:
        raise ConfigError("bad_value", f"{where}: {name} takes {_KINDS[kind]}, not {value!r}.", hint=example)
    if isinstance(value, str) and not _is_writable(key, value):
        raise ConfigError("bad_value", f"{where}: {name} cannot be {value!r}.", hint=example)
    setting = table.settings[key]
    if setting.choices and value not in setting.choices:
        near = _nearest(str(value), setting.choices) or next(
            (each for each in setting.choices if str(value).lower().startswith(each)), None
        )
        hint = f"did you mean {near}?" if near else f"one of: {', '.join(setting.choices)}"
        raise ConfigError("bad_value", f"{where}: {name} cannot be {value!r}.", hint=hint)
    if isinstance(value, int | float) and not _within(setting, value):
        bounds = f"from {setting.least:g}" + (f" to {setting.most:g}" if setting.most is not None else "")
        raise ConfigError("bad_value", f"{where}: {name} must be {bounds}, not {value!r}.", hint=example)
    return value


def _float(value: int) -> float:
    """Return the nearest float, or infinity on overflow."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _is_writable(key: str, value: str) -> bool:
    """Return True if the value is valid UTF-8 and, for file names, a possible file name."""
    return not re.search("[\ud800-\udfff]", value) and (key not in ("store_path", "base") or "\0" not in value)


def _nearest(typed: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(typed, known, n=1)), None)


def _within(setting: Setting, value: float) -> bool:
    if isnan(value):
        return False
    return (setting.least is None or value >= setting.least) and (setting.most is None or value <= setting.most)


def _coherent(config: Config, *, where: str) -> Config:
    if config.overlap_tokens >= config.chunk_tokens:
        raise ConfigError(
            "bad_value",
            f"{where}: overlap_tokens ({config.overlap_tokens}) must be below chunk_tokens ({config.chunk_tokens}).",
            hint="overlap_tokens = 80",
        )
    if config.bm25_weight + config.vector_weight < LEAST_WEIGHT:
        raise ConfigError("bad_value", f"{where}: at least one weight must be above 0.", hint="lexical_weight = 0.9")
    if config.embedding == "hash" and config.embedding_dim & (config.embedding_dim - 1):
        raise ConfigError("bad_value", f"{where}: embedding_dim must be a power of two.", hint="embedding_dim = 512")
    if config.ann_bits % 64:
        raise ConfigError("bad_value", f"{where}: ann_bits must be a multiple of 64.", hint="ann_bits = 1024")
    if not config.vectors:
        config = config._replace(embedding=NO_VECTORS)
    if config.header != Config._field_defaults["header"]:
        check_header(config.header, where=where)
    return config


_KINDS: dict[type, str] = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def from_text(key: str, text: str, *, where: str, table: SettingTable = _OF_STORES) -> SettingValue:
    """Return the unchecked value that a text spells, as on a command line. Raises ConfigError `bad_value`."""
    kind = type(table.defaults.get(key, ""))
    if kind is bool:
        spelled = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        return spelled.get(text.lower(), text)
    if kind in (int, float):
        try:
            return int(text) if kind is int else float(text)
        except ValueError:
            return text

    def meant(escape: re.Match[str]) -> str:
        letter, *digits, _ = escape.groups()
        code = int(next(filter(None, digits), "-1"), 16)
        if letter is None and not 0 <= code < 0x110000:
            hint = r"\\ is a backslash; the others are \n \r \t \f \xHH \uHHHH \UHHHHHHHH"
            raise ConfigError("bad_value", f"{where}: {key} has the unknown escape {escape[0]}.", hint=hint)
        return chr(code) if letter is None else _LETTERS[letter]

    return re.sub(_ESCAPE, meant, text, flags=re.DOTALL)


def _spelt(value: SettingValue) -> str:
    """Return the value on one line, as `from_text` parses it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\\", r"\\").replace("\n", r"\n")


WIDEST = 1_000  # largest padding, or number of digits, of a value in a header


def check_header(header: str, *, where: str) -> None:
    """Raise ConfigError `bad_value` for a header that cannot be filled in or pads too much."""
    hint = "header = '[{n}] {path}:{lines}'"
    try:
        specs = [spec for _, _, spec, _ in Formatter().parse(header) if spec]
        if any("{" in spec or any(int(run) > WIDEST for run in re.findall(r"\d+", spec)) for spec in specs):
            message = f"{where}: header {header[:80]!r} pads a value to more than {WIDEST:,} characters."
            raise ConfigError("bad_value", message, hint=hint)
        header.format(n=1, path="p", lines="1-2", title="t", heading="h")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigError("bad_value", f"{where}: header {header[:80]!r} cannot be filled in.", hint=hint) from error
