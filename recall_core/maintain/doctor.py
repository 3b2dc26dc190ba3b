"""Doctor: check a store and repair it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from recall_core import installing
from recall_core.config import NO_VECTORS, Config, chunker_identity
from recall_core.contract.views import CheckView, LostView
from recall_core.embed.registry import HASH_NOTE, embedder_of, kind, new_embedder
from recall_core.errors import ConfigError, EmbedError, Interrupted, StoreCorrupt, StoreError, StoreLocked, UsageError
from recall_core.ingest.vectors import TextVector, embed
from recall_core.maintain import embedders
from recall_core.maintain.checks import (
    CALIBRATE,
    ceiling_reachable,
    left_parts,
    near_duplicates,
    plug_ins_installed,
    read_again,
    remove_left,
    self_retrieval,
    unchanged_files,
)
from recall_core.ports import Embedder
from recall_core.shell import INSTALL, Hint
from recall_core.store.port import Store
from recall_core.store.values import READ_AGAIN, Finding, Lost, MadeWith, StoreCheck

_REPAIR = Hint("doctor", fix=True)
RESTORE = f"restore a backup, or {Hint('init')} a new store and {Hint('import')} an export"
_FROM_DISK = f"{_REPAIR}, then {Hint('sync')}"
_OF_DAMAGE = (_REPAIR, _FROM_DISK, READ_AGAIN)
"""Commands that repair damage."""
_COMPACT = Hint("compact")


def doctor(
    store: Store,
    base: Path,
    *,
    config: Config = Config(),
    own: Own | None = None,
    is_known: bool = True,
    fix: bool = False,
    dups: bool = False,
) -> list[CheckView]:
    """Return every check in a fixed order; an error means exit 6. Only StoreLocked and Interrupted end it early.

    base: the store's directory.
    own: returns the store's own embedder, called when first needed; by default the embedder of `config`.
    is_known: `config` names the embedder of the vectors.
    dups: also compare every two chunks.
    fix: if an error can be repaired, copy the store to `….bak-<generation>`, repair it and check again.

    A repair rebuilds indexes, full text and counts in place. If that is not enough, it rebuilds the store from the
    readable data. Then it makes the missing vectors. The checks `backup` and `rebuilt` name the copy and the losses.
    If nothing needs repair, nothing is written, so a second run changes nothing. Raises StoreError `no_room`.
    """
    own = cache(own or (lambda: embedder_of(store.embedder(), config)))
    if fix:
        # Finish a purge before any backup, which would keep the text to purge. A damaged file may not allow it.
        with suppress(StoreCorrupt):
            if store.pending_purge() is not None:
                store.purge()
    removed = remove_left(store) if fix else ()
    questions = _questions(base, config, dups=dups, removed=removed)
    checks = [_ask(store, own, *question) for question in questions]
    errors = {
        each["code"]: each.get("fix")
        for each in checks
        if each["severity"] == "error" and each.get("fix") in _OF_DAMAGE  # a failing disk is not damage
    }
    if not fix or not (errors.keys() & _DAMAGE or _REPAIR in errors.values()):
        return checks
    backup = store.back_up()
    lost = None
    if not errors.keys() <= _VECTORS and not (errors.keys() <= _VECTORS | _INDEXES and store.rebuild_indexes()):
        lost = store.rebuild(copy=backup, made_with=partial(made_with, config if is_known else None))
    make_vectors(store, own)
    embedders.make_anew(store, config)
    checks = [_ask(store, own, *question) for question in questions]
    if backup:
        checks.append(
            CheckView(code="backup", severity="ok", evidence=f"copy of the store before the repair: {backup}")
        )
    if lost is None:
        return checks
    unread = sum(1 for file in store.files() if file.os_path and not file.settings)
    return [*checks, _rebuilt(lost, unread)]


def make_vectors(store: Store, own: Own) -> None:
    """Embed the chunks that have no vector, if the store's embedder is available."""
    made: dict[int, TextVector] = {}
    try:
        for rows in store.without_vector():
            answers = embed([text for _, text in rows], own())
            made |= {rowid: answer for (rowid, _), answer in zip(rows, answers, strict=True) if answer.vector}
    except (EmbedError, ConfigError):  # a check reports what is missing
        return
    if made:
        store.put_vectors(embedder=store.embedder(), made=made)


def made_with(config: Config | None) -> MadeWith | None:
    """Return what a store with these settings is made with, or None if that is unknown here."""
    if config is None:
        return None
    try:
        embedder = new_embedder(config)
    except EmbedError:
        return None
    return MadeWith(embedder.identity, embedder.dimension, config.counter, chunker_identity(config))


def lost_view(lost: Lost) -> LostView:
    """Return a lost part as the contract spells it."""
    view = LostView(kind=lost.kind, path=lost.path)
    if lost.place:
        view["place"] = lost.place
    return view


def _rebuilt(lost: Sequence[Lost], unread: int) -> CheckView:
    """Return the check `rebuilt` with what the rebuild could not recover.

    unread: number of files whose time, hash or parser settings are lost. The next sync reads them.
    """
    evidence = "rebuilt from the readable data"
    if not lost and not unread:
        return CheckView(code="rebuilt", severity="ok", evidence=f"{evidence}; nothing was lost")
    if not lost:
        evidence = f"{evidence}; {unread} file{'s' * (unread > 1)} must be read again"
        return CheckView(code="rebuilt", severity="warning", evidence=evidence, fix=Hint("sync"))
    kinds = Counter(each.kind for each in lost)
    counted = ", ".join(
        f"{count} {kind}{'s' * (count > 1 and kind != 'labels')}" for kind, count in sorted(kinds.items())
    )
    return CheckView(
        code="rebuilt",
        severity="warning",
        evidence=f"{evidence}; lost: {counted}",
        fix=Hint("sync"),
        lost=[lost_view(each) for each in lost],
    )


def check_one(store: Store, code: str, own: Own, *, base: Path, config: Config = Config()) -> CheckView:
    """Return the check with this code, one of `codes`. own: returns the store's own embedder."""
    return next(_ask(store, own, *question) for question in _questions(base, config) if question[0] == code)


def codes() -> tuple[str, ...]:
    """Return the codes of all checks that run by default, in order."""
    return tuple(code for code, _, _ in _questions(Path(), Config()))


def examine(store: Store) -> list[CheckView]:
    """Return every check of the store's content. Look at neither the source files nor an embedder.

    Raises StoreError `io_error` if the disk fails, because then nothing is known.
    """
    return [_ask(store, _no_embedder, *question, is_sure=True) for question in _QUESTIONS if question[0] in _HELD]


def _no_embedder() -> Embedder:
    raise EmbedError("embedder_unavailable", "This check uses no embedder.")


def _questions(
    base: Path, config: Config, *, dups: bool = False, removed: Sequence[str] = ()
) -> tuple[Question, ...]:
    pairs: tuple[Question, ...] = (("near_duplicates", _of_store(near_duplicates), ""),) if dups else ()
    has_index = config.vector_index in ("lsh", "hnsw")
    index: tuple[Question, ...] = (("vector_index", partial(embedders.check, config=config), _REPAIR),)
    return (
        *((code, ask, installing.upgrade() if code == "schema" else fix) for code, ask, fix in _QUESTIONS),
        *(index if has_index else ()),
        ("left_parts", _of_store(partial(left_parts, removed=removed)), _REPAIR),
        ("parser_missing", _of_store(plug_ins_installed), ""),
        ("files", _of_store(partial(unchanged_files, base=base, config=config)), ""),
        ("readings", _of_store(partial(read_again, base=base, config=config)), ""),
        ("self_retrieval", partial(_selves, config=config), _REPAIR),
        ("sparse_ceiling", partial(_ceiling, config=config), CALIBRATE),
        *pairs,
        ("environment", _check("environment"), Hint(INSTALL, "sqlite-vec", force_reinstall=True)),
    )


def _ask(
    store: Store,
    own: Own,
    code: str,
    question: Callable[[Store, Own], Finding],
    remedy: str,
    *,
    is_sure: bool = False,
) -> CheckView:
    """Run one check. If the file is too damaged for it, return that as an error. is_sure: raise if the disk fails."""
    try:
        finding = question(store, own)
    except StoreLocked:
        raise
    except StoreError as error:
        if is_sure and error.code == "io_error":
            raise
        finding = Finding("error", error.message)
        remedy = error.hint or "" if error.code == "io_error" else remedy  # a repair does not help a failing disk
    except (Interrupted, EmbedError):
        raise
    except Exception as error:  # noqa: BLE001 - damage to one check must not stop the others
        finding = Finding("error", f"the check failed: {type(error).__name__}: {error}")
        if isinstance(error, UsageError) and error.code == "not_offered":
            finding = Finding("ok", "not checked: this kind of store does not offer it")
    view = CheckView(code=code, severity=finding.severity, evidence=finding.evidence)
    if finding.severity != "ok":
        view["fix"] = finding.fix or remedy
    if finding.files:
        view["files"] = [*finding.files]
    return view


def _of_store(question: Callable[[Store], Finding]) -> Callable[[Store, Own], Finding]:
    return lambda store, own: question(store)


def _check(code: StoreCheck) -> Callable[[Store, Own], Finding]:
    return lambda store, own: store.check(code)


def _tokens(store: Store, own: Own) -> Finding:
    try:
        return store.check("tokens")
    except UsageError as error:
        if error.code == "not_offered":
            raise
        fix = f"restore the file, or {Hint('rechunk', counter='approx-2')}"
        return Finding("warning", f"not counted: {error.message}", fix)


_BLOCK = 1_024  # vectors in memory


def _vectors(store: Store, own: Own) -> Finding:
    """Count the chunks without a vector. It is an error if the embedder makes a vector for one of them.

    A given vector that is lost cannot be made again, so it is a warning.
    """
    without = missing = 0
    given = store.given_vectors()
    blocks = [given[start : start + _BLOCK] for start in range(0, len(given), _BLOCK)]
    if lost := sum(len(block) - len(store.vectors(block)) for block in blocks):
        return Finding("warning", f"{lost} given vectors are lost", "put their documents again")
    try:
        for rows in store.without_vector():
            without += len(rows)
            missing += sum(1 for made in embed([text for _, text in rows], own()) if made.vector)
    except (EmbedError, ConfigError) as error:
        without = sum(map(len, store.without_vector()))
        return Finding("warning", f"{without} chunks have no vector; {error.message}", error.hint or "")
    if missing:
        return Finding("error", f"{missing} chunks have no vector but need one")
    some = f", {len(given)} of them given" if given else ""
    return Finding("ok", f"{store.info().vectors} vectors{some}, {without} texts without a feature")


def _reembed(store: Store, own: Own) -> Finding:
    target = store.reembed_target()
    if target is None:
        return Finding("ok", "no unfinished reembed")
    state = f"{store.reembedded()} of {store.texts()} texts"
    return Finding("warning", f"a reembed to {target.embedder} is unfinished: {state}", target.command)


def _embedder(store: Store, own: Own) -> Finding:
    identity = store.embedder()
    if identity == NO_VECTORS:
        return Finding("ok", f"{NO_VECTORS}: searches use words alone, and no text needs a vector")
    return Finding("ok", f"{identity}: {HASH_NOTE}" if identity.startswith("hash-") else identity)


def _selves(store: Store, own: Own, *, config: Config) -> Finding:
    """Check self-retrieval. A provider gets no request, as in `_ceiling`: stored vectors replace new ones."""
    words = config.stop_words
    try:
        if kind(config.embedding).sends_text(config):
            return self_retrieval(store, None, instead="the embedder sends text off this machine", stop_words=words)
        return self_retrieval(store, own(), stop_words=words)
    except (EmbedError, ConfigError) as error:
        return self_retrieval(store, None, instead=error.message.rstrip("."), stop_words=words)


def _ceiling(store: Store, own: Own, *, config: Config) -> Finding:
    """Check the ceiling. A provider gets no request: doctor sends no text off this machine without need."""
    try:
        if kind(config.embedding).sends_text(config):
            return Finding("ok", "skipped: the embedder sends text off this machine")
        return ceiling_reachable(store, own(), config)
    except (EmbedError, ConfigError) as error:
        return Finding("ok", f"skipped: {error.message}")


Own = Callable[[], Embedder]
"""Returns the store's own embedder, made when first needed. Raises EmbedError."""

Question = tuple[str, Callable[[Store, Own], Finding], str]

_QUESTIONS: tuple[Question, ...] = (
    ("integrity", _check("integrity"), _REPAIR),
    ("foreign_keys", _check("foreign_keys"), _REPAIR),
    ("schema", _check("schema"), ""),
    ("fulltext", _check("fulltext"), _REPAIR),
    ("fulltext_rows", _check("fulltext_rows"), _REPAIR),
    ("orphan_vectors", _check("orphan_vectors"), _REPAIR),
    ("vector_values", _check("vector_values"), _REPAIR),
    ("vectors", _vectors, _REPAIR),
    ("texts", _check("texts"), _FROM_DISK),
    ("documents", _check("documents"), READ_AGAIN),
    ("ids", _check("ids"), READ_AGAIN),
    ("slices", _check("slices"), READ_AGAIN),
    ("words", _check("words"), Hint("reindex")),
    ("tokens", _tokens, READ_AGAIN),
    ("digest", _check("digest"), _REPAIR),
    ("counts", _check("counts"), _REPAIR),
    ("purge_pending", _check("purge_pending"), _COMPACT),
    ("space", _check("space"), _COMPACT),
    ("duplicates", _check("duplicates"), ""),
    ("reembed", _reembed, ""),
    ("embedder", _embedder, ""),
)
"""Code, question, and the command that helps if the answer is not ok."""

_DAMAGE = frozenset(("integrity", "texts", "ids"))
"""Checks that find damage in the stored data itself, not in data derived from it."""

_INDEXES = frozenset(("integrity", "fulltext", "fulltext_rows", "counts"))
"""Checks of data that can be rebuilt in place."""

_VECTORS = frozenset(("vectors", "vector_index"))
"""Checks of data made from sound texts and vectors."""

_HELD = frozenset(code for code, _, _ in _QUESTIONS) - {
    "vectors",
    "words",
    "space",
    "duplicates",
    "reembed",
    "embedder",
}
