"""recall.toml: every setting with its type, default, bounds and reason, read once into a frozen Config."""

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
_PLAIN_LINES, _DIGITS = 1_000, 300  # beyond, tomllib has to say what a file means


def read_toml(path: Path) -> dict[str, Any]:
    """What a recall.toml says, unchecked; a missing file says nothing. Raises ConfigError `config_invalid`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("config_invalid", f"{path} cannot be read: {why_unread(error)}.") from error
    said = plain(text)
    if said is not None:
        return said

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("config_invalid", f"{path}: {error}", hint=f"edit {path}") from error


def plain(text: str) -> dict[str, Any] | None:
    """What a file says that has a key with one simple value a line, as `render` writes it; None of any other."""
    said: dict[str, Any] = {}
    for number, line in enumerate(text.split("\n")):
        line = line.strip(" \t")  # noqa: PLW2901 - what stands around it says nothing
        if not line.isprintable() or number > _PLAIN_LINES:
            return None
        if line and not line.startswith("#"):
            key, _, value = (part.strip(" ") for part in line.partition("="))
            is_name = key.isascii() and key.replace("_", "a").isalnum()
            simple = _simple(value)
            if not is_name or simple is None or key in said:
                return None
            said[key] = simple
    return said


def _simple(value: str) -> bool | int | float | str | None:
    """A whole number, a decimal, a truth value or a text that escapes nothing but ends of line and tabs, or None."""
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
    """A value as the file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return '"' + re.sub(r"[\0-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
    return repr(value)


FILE_NAME = "recall.toml"
RRF_K = 60  # Cormack, Clarke and Buettcher 2009
BM25_K1 = 1.2  # fixed in FTS5's bm25()
SEARCH_K = 10  # hits of a search that does not say --k
EXACT_VECTORS = 20_000  # live vectors up to which every filtered row is a candidate
MEMORY_MB = 512  # for what a process keeps of a store
LEAST_WEIGHT = 1e-9  # weights that add up to less count as none: dividing by them would overflow
SHORTLIST = 500  # rows whose signatures are nearest, of which cosines are taken
OPTIMAL_ROWS = 200  # candidates that an optimal packing chooses from
BUSY_TIMEOUT_MS = 5_000
EMBEDDED = "titled"  # what embedders are given of a chunk: its document's title and its text
EDITED = " edited"  # behind the settings of a file that a changed root covers, until a sync has met it
CHUNKER_VERSION = 1  # raised whenever ingest/chunk.py would cut any text differently
COMMIT_SECONDS = 2.0  # an interrupted ingest loses at most this much work
WATCH_REST_MS = 200  # without a change before a watched folder is synced: an editor saves in several steps
WATCH_MOST_MS = 2_000  # a folder that never rests is synced this often

_ESCAPE = r"\\(?:([\\nrtf])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))"
_LETTERS = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t", "f": "\f"}

SettingValue: TypeAlias = str | int | float | bool
Settings: TypeAlias = Mapping[str, SettingValue]
"""Values by the name of their setting."""
GivenSettings: TypeAlias = Settings | Sequence[str]
"""The same, or as a person types them: texts, `key=value` each."""


class Config(NamedTuple):
    """Every setting. The field order is the order in which they are written and shown."""

    store_path: str = "recall.db"
    embedding: str = "hash"
    embedding_dim: int = 512
    embedding_model: str = ""
    embedding_url: str = ""
    embedding_fallback: str = "hash"
    allow_network: bool = False
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
    parsers: tuple[tuple[str, str], ...] = ()  # the table [parsers]: (glob, name), in order


class Setting(NamedTuple):
    """What may stand behind one key. live: a question may override it with --set; the rest belong to the store."""

    doc: str
    live: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


SETTINGS: dict[str, Setting] = {
    "store_path": Setting("the database file, relative to this file"),
    "embedding": Setting(f"the embedder that makes the vectors, as {Hint('embedders')} names it"),
    "embedding_dim": Setting("components of a hash vector, a power of two", least=16, most=65_536),
    "embedding_model": Setting("the model that a provider is asked for, empty for its own default"),
    "embedding_url": Setting("where an OpenAI-compatible server answers, empty for the provider's own"),
    "embedding_fallback": Setting("what auto takes when nothing better is available"),
    "allow_network": Setting("let an embedder send text off this machine"),
    "counter": Setting("the token counter: whitespace, approx, approx-2, approx:modern or hf:tokenizer.json"),
    "chunk_tokens": Setting("tokens a chunk aims at", least=1, most=100_000),
    "overlap_tokens": Setting("tokens neighbouring chunks share", least=0, most=50_000),
    "max_chunk_chars": Setting("characters no chunk exceeds", least=16, most=1_000_000),
    "max_file_bytes": Setting("files above this are skipped in a walk", least=1),
    "fusion": Setting("how signals are combined", live=True, choices=("weighted", "rrf")),
    "normalize": Setting("how raw scores are put on one scale", live=True, choices=("bound", "max", "minmax")),
    "bm25_weight": Setting("weight of the lexical signal", live=True, least=0, most=1_000),
    "vector_weight": Setting("weight of the semantic signal", live=True, least=0, most=1_000),
    "rrf_k": Setting("the constant of reciprocal rank fusion", live=True, least=0, most=1_000_000),
    "min_score": Setting("hits below this score are dropped", live=True, least=0, most=1),
    "min_cosine": Setting("hits without a query word below this cosine are dropped", live=True, least=0, most=1),
    "match": Setting("which words of a query must be present", live=True, choices=("any", "all")),
    "stop_words": Setting(
        "words outside quotes not looked for: none; function words; also rests (e.g., 'd); also how people ask",
        live=True,
        choices=("none", "english", "leftovers", "questions"),
    ),
    "title_weight": Setting("weight of a word in the title", live=True, least=0, most=1_000),
    "lexical_model": Setting("who scores matching words", live=True, choices=("fts5", "bm25f")),
    "bm25_k1": Setting("how soon repeated words stop counting (bm25f)", live=True, least=0, most=100),
    "bm25_b": Setting("how much a long text is held against it (bm25f)", live=True, least=0, most=1),
    "rerank": Setting("the reranker of the best rows, empty for none", live=True),
    "rerank_rows": Setting("rows that are scored again", live=True, least=1, most=10_000),
    "rerank_weight": Setting("the reranker's share of their score", live=True, least=0, most=1),
    "rerank_keep": Setting("keep a reranker's vectors in the store, so that no text is embedded twice"),
    "rerank_mb": Setting("megabytes that these take, the oldest make room; 0 for none", least=0, most=1_000_000),
    "memory_mb": Setting(
        "megabytes of a store that a process keeps in memory once it is asked again; 0 for none",
        least=0,
        most=1_000_000,
    ),
    "sparse_recall": Setting("let a near chunk of a short document take the last row", live=True),
    "sparse_chunk_threshold": Setting("chunks that a short document has at most", live=True, least=1),
    "sparse_distance_ceiling": Setting("1 - cosine that is still near", live=True, least=0, most=2),
    "sparse_max_injections": Setting("rows that may be given away so", live=True, least=0),
    "sparse_share": Setting("share of a context kept for them, 0 for none", live=True, least=0, most=0.5),
    "collapse": Setting("show a text that several chunks hold once, at its first place", live=True),
    "pool": Setting("candidates a signal proposes above 20,000 vectors", live=True, least=1, most=1_000_000),
    "max_limit": Setting("rows of an RQL answer without LIMIT", live=True, least=0),
    "pack_counter": Setting(
        "what counts a context's budget, as counter; empty: the store's if made for its models, else approx-2",
        live=True,
    ),
    "budget_tokens": Setting("tokens of a context", live=True, least=1),
    "diversity": Setting("most chunks of one document in a context, 0 for no cap", live=True, least=0),
    "min_fragment": Setting("fewest tokens of a truncated last chunk", live=True, least=1),
    "pack": Setting("what a context is filled by: rank order, or most value", live=True, choices=("rank", "optimal")),
    "header": Setting("line above each block: {n} {path} {lines} {title} {heading}", live=True),
    "footer": Setting("line below each block, empty for none", live=True),
    "separator": Setting("text between blocks", live=True),
    "line_numbers": Setting("begin every line of a block with its number", live=True),
    "strict": Setting("turn RQL compatibility warnings into errors", live=True),
    "vector_index": Setting("search of over 20,000 vectors; lsh may miss some", choices=("auto", "exact", "lsh")),
    "ann_bits": Setting("bits of a signature (lsh), a multiple of 64", least=64, most=8_192),
    "ann_seed": Setting("seed of the hyperplanes that make signatures (lsh)", least=0, most=2**63 - 1),
    "guess_encoding": Setting("guess the encoding of text that is not UTF-8 and does not say what it is"),
}


NEW: Settings = {"stop_words": "questions", "rerank_keep": True, "sparse_share": 0.15}
"""What a new store is given. What an older recall.toml means, which has no line for it, is the default in Config."""

NAMES = {"bm25_weight": "lexical_weight", "vector_weight": "semantic_weight"}
"""What people call a setting whose key is older. Files, --set and OPTION take either; answers have the key."""

KEYS = {name: key for key, name in NAMES.items()}
"""The key behind a name."""

EMBEDDING = (*(key for key in SETTINGS if key.startswith("embedding")), "allow_network")
"""The settings that say who makes the vectors."""

_OF_THE_VECTORS = ("embedding_dim", "embedding_model")  # another value means other vectors of the same embedder
CUTTING = ("chunk_tokens", "overlap_tokens", "max_chunk_chars", "counter")
"""What texts are cut and counted by: a store goes by what it was made with, or cut anew by."""


def load(path: Path) -> Config:
    """The Config in a recall.toml; a missing file gives the defaults. Its `onnx:DIR` starts from its own folder.

    Raises ConfigError `config_invalid` (not TOML), `unknown_key`, `bad_value`.
    """
    said, where = read_toml(path), str(path)
    parsers = _parsers(said.pop("parsers", {}), where=where)
    return _anchor_paths(
        replace(Config(), said, where=where)._replace(parsers=parsers), path.parent.absolute().joinpath
    )


def anchor(name: str, absolute: Callable[[Path], Path]) -> str:
    """An embedder's name, in which `absolute` says where the DIR of `onnx:DIR` is."""
    kind, _, argument = name.partition(":")
    return f"onnx:{absolute(paths.expand(argument))}" if kind == "onnx" and argument else name


def replace(config: Config, values: Mapping[str, Any], *, where: str) -> Config:
    """The config with these settings, by key or name, each checked; `where` names their origin in an error."""
    expect_once(values, where=where)
    checked: dict[str, Any] = {
        KEYS.get(key, key): _check(KEYS.get(key, key), value, where=where, name=key) for key, value in values.items()
    }
    return _coherent(config._replace(**checked), where=where)


def override(config: Config, settings: GivenSettings) -> Config:
    """The config for one question: live settings only. Texts are `key=value`, as --set takes them."""
    if not settings:
        return config
    for assignment in assignments(settings):
        key, _, text = assignment.partition("=")
        key = key.strip()
        if key in SETTINGS and not SETTINGS[key].live:
            raise UsageError(
                "setting_fixed",
                f"{key} belongs to the store and cannot change for one question.",
                hint=_elsewhere(key, text, config),
            )
    return assign(config, settings, where=flag("set"))


def assign(config: Config, settings: GivenSettings, *, where: str) -> Config:
    """The config with these settings; texts are `key=value`, values spelt as on a command line."""
    values = _read_given(settings, where=where)
    return replace(config, values, where=where) if values else config


def settings_of(settings: GivenSettings, *, where: str) -> Settings:
    """Settings as values by key: texts are read, values stay as they are, unchecked. The last of one name counts.
    Raises UsageError or ConfigError `bad_value`, the latter where a setting is given by its key and by its name."""
    given = _read_given(settings, where=where)
    expect_once(given, where=where)
    return by_key(given)


def by_key(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by key, where some may be given by their name."""
    return {KEYS.get(name, name): value for name, value in settings.items()}


def by_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the name that people read, where they are given by key."""
    return {NAMES.get(key, key): value for key, value in settings.items()}


def expect_once(given: Iterable[str], *, where: str) -> None:
    """Raises ConfigError `bad_value` where a setting is given by its key and by its name too."""
    names = set(given)
    for key, name in NAMES.items():
        if key in names and name in names:
            message = f"{where}: {name} and {key} are two names of one setting."
            raise ConfigError("bad_value", message, hint=f"leave out {key}")


def assignments(settings: GivenSettings) -> tuple[str, ...]:
    """Settings as texts: values are spelt as --set takes them, texts stay as they were typed.

    >>> assignments({"pool": 20, "sparse_recall": False})
    ('pool=20', 'sparse_recall=false')
    """
    if isinstance(settings, Mapping):
        return tuple(f"{key}={_spelt(value)}" for key, value in settings.items())
    return tuple(settings)


def chunker_identity(config: Config) -> str:
    """The chunker's name, version and limits: equal identities cut equal texts equally."""
    return f"boundary-{CHUNKER_VERSION}:{config.chunk_tokens}:{config.overlap_tokens}:{config.max_chunk_chars}"


def cut_as(config: Config, *, chunker: str, counter: str) -> Config:
    """The settings with the limits of a chunker of that identity, and that counter."""
    limits = dict(zip(CUTTING, map(int, chunker.split(":")[1:]), strict=False))
    return config._replace(**limits, counter=counter)  # type: ignore[arg-type]  # values of its own fields


def find_outdated(config: Config, toml: Path) -> dict[str, SettingValue]:
    """What a new store would be given, of the settings that this recall.toml, or none at all, leaves as they were."""
    said = read_toml(toml)
    return {key: value for key, value in NEW.items() if key not in said and getattr(config, key) != value}


def render(config: Config) -> str:
    """A recall.toml that gives this config again, every key with what it is for."""
    lines = ["# Recall settings. A line that is missing means what it meant before there was such a setting."]
    for key, setting in SETTINGS.items():
        value = getattr(config, key)
        choices = f" ({' | '.join(setting.choices)})" if len(setting.choices) > 1 else ""
        lines.append(f"\n# {setting.doc}{choices}\n{NAMES.get(key, key)} = {to_toml(value)}")
    if config.parsers:
        table = [f"{to_toml(glob)} = {to_toml(name)}" for glob, name in config.parsers]
        lines += ["\n# parsers of files by their name\n[parsers]", *table]
    return "\n".join(lines) + "\n"


def _parsers(table: object, *, where: str) -> tuple[tuple[str, str], ...]:
    if isinstance(table, dict) and all(isinstance(name, str) for name in table.values()):
        return tuple(table.items())
    raise ConfigError("bad_value", f"{where}: [parsers] takes a name a pattern.", hint='[parsers] "*.log" = "text"')


def _read_given(settings: GivenSettings, *, where: str) -> Settings:
    """Settings as values by the names that they were given."""
    if isinstance(settings, Mapping):
        return settings
    values: dict[str, SettingValue] = {}
    for assignment in settings:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError("bad_value", f"{where} {assignment} has no value.", hint=f"{where} {key}=VALUE")
        key = key.strip()
        values[key] = _from_text(KEYS.get(key, key), text, where=where)
    return values


def _elsewhere(key: str, text: str, config: Config) -> str:
    """What gives the store this value, where a question cannot."""
    if key == "embedding":
        return Hint("reembed", text or "NAME")
    if key in _OF_THE_VECTORS:
        return Hint("reembed", config.embedding, set=f"{key}={text or 'VALUE'}")
    if key in CUTTING:
        return Hint("rechunk", **{key: text or "VALUE"})
    return f"set {key} in {FILE_NAME}"


def _anchor_paths(config: Config, absolute: Callable[[Path], Path]) -> Config:
    names = (config.embedding, config.embedding_fallback, config.rerank)
    embedding, fallback, rerank = (anchor(name, absolute) for name in names)
    return config._replace(embedding=embedding, embedding_fallback=fallback, rerank=rerank)


def _check(key: str, value: object, *, where: str, name: str) -> object:
    """The value of a setting. name: what it is called where it is given."""
    if key not in SETTINGS:
        near = _nearest(str(key), (*(NAMES.get(each, each) for each in SETTINGS), *NAMES))
        known = ", ".join(NAMES.get(each, each) for each in SETTINGS)
        hint = f"did you mean {near}?" if near else f"known keys: {known}"
        raise ConfigError("unknown_key", f"{where} has no setting {key!r}.", hint=hint)
    kind = type(Config._field_defaults[key])
    if kind is float and type(value) is int:
        value = _float(value)
    if type(value) is not kind:
        raise ConfigError(
            "bad_value", f"{where}: {name} takes {_KINDS[kind]}, not {value!r}.", hint=_example(key, name)
        )
    if isinstance(value, str) and not _is_writable(key, value):
        raise ConfigError("bad_value", f"{where}: {name} cannot be {value!r}.", hint=_example(key, name))
    setting = SETTINGS[key]
    if setting.choices and value not in setting.choices:
        near = _nearest(str(value), setting.choices)
        hint = f"did you mean {near}?" if near else f"one of: {', '.join(setting.choices)}"
        raise ConfigError("bad_value", f"{where}: {name} cannot be {value!r}.", hint=hint)
    if isinstance(value, int | float) and not _within(setting, value):
        bounds = f"from {setting.least:g}" + (f" to {setting.most:g}" if setting.most is not None else "")
        raise ConfigError("bad_value", f"{where}: {name} goes {bounds}, not {value!r}.", hint=_example(key, name))
    return value


def _float(value: int) -> float:
    """The number nearest to it, which is infinite where there is none."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _is_writable(key: str, value: str) -> bool:
    """Whether UTF-8 has the value, and a file may be called so if it is one's name."""
    return not re.search("[\ud800-\udfff]", value) and (key != "store_path" or "\0" not in value)


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
    if config.header != Config._field_defaults["header"]:
        check_header(config.header, where=where)
    return config


_KINDS: dict[type, str] = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def _from_text(key: str, text: str, *, where: str) -> SettingValue:
    kind = type(Config._field_defaults.get(key, ""))
    if kind is bool:
        return {"true": True, "on": True, "false": False, "off": False}.get(text.lower(), text)
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
    """A value as `_from_text` reads it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("\\", r"\\").replace("\n", r"\n")


def _example(key: str, name: str) -> str:
    return f"{name} = {to_toml(Config._field_defaults[key])}"


WIDEST = 1_000  # characters that a header pads one of its values to, or digits that it gives a number


def check_header(header: str, *, where: str) -> None:
    """Raises ConfigError `bad_value` for a header that cannot be filled in, or asks for too much."""
    hint = "header = '[{n}] {path}:{lines}'"
    try:
        specs = [spec for _, _, spec, _ in Formatter().parse(header) if spec]
        if any("{" in spec or any(int(run) > WIDEST for run in re.findall(r"\d+", spec)) for spec in specs):
            message = f"{where}: header {header[:80]!r} asks for more than {WIDEST:,} characters of one value."
            raise ConfigError("bad_value", message, hint=hint)
        header.format(n=1, path="p", lines="1-2", title="t", heading="h")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigError("bad_value", f"{where}: header {header[:80]!r} cannot be filled in.", hint=hint) from error
