"""Serve one store to many callers: a connection pool, document names for callers, and background syncs."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from threading import Condition, Event, Lock, Thread, current_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from recall_core.agents.profiles import SYNCED
from recall_core.api import agents
from recall_core.api.engine import result_of
from recall_core.api.get import at_place
from recall_core.api.names import SOME, PathNames, below
from recall_core.api.recall import Recall
from recall_core.api.stores import find
from recall_core.config import SYNCING, Config
from recall_core.contract.responses import IngestResponse
from recall_core.deadline import Cancel, Deadline, check, check_seconds, until
from recall_core.embed.trust import SYNC
from recall_core.errors import Busy, Interrupted, RecallError, StoreError, UnknownTarget, UsageError
from recall_core.ingest import watch
from recall_core.ports import Embedder
from recall_core.retrieve import targets
from recall_core.text import nfc, one_line

if TYPE_CHECKING:
    from recall_core.api.query_cache import QueryCache

_SIGNS = re.compile(r"[\\`]|\*(?=\*)|(?<=\*)\*|(?<!\S)·|·(?!\S)|\[(?=\d+\])")
"""Characters that end or imitate a citation in an answer: bold, code, the field separator, block numbers."""
_BLANKS = re.compile(r"^ | (?=$)|(?<= ) ")
_SPELLED = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[ntr]|[^\w\s])")
_LEAST_OF_ID = 4
_ID = re.compile(rf"[0-9a-f]{{{_LEAST_OF_ID},64}}")
_PART = re.compile(
    r"(?P<path>.+?)(?P<part>(?::[0-9]{1,18}(?:-[0-9]{1,18})?|#[a-z]+=[0-9]{1,18}(?:-[0-9]{1,18})?))", re.DOTALL
)
_SHOWN = 3
_SIMILAR = 0.75


def spell(name: str) -> str:
    """Return a name on one line, escaped so that it cannot end or imitate a citation.

    `CallerNames.find` reads it. Control characters, citation signs and backslashes are escaped with a backslash.
    """
    if name.isprintable() and not (_SIGNS.search(name) or _BLANKS.search(name)):
        return name
    shown = _BLANKS.sub(r"\\x20", _SIGNS.sub(r"\\\g<0>", name))
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)


def unspell(name: str) -> str:
    """Return the name with this spelling in answers, or the name itself if answers never spell one so."""
    if "\\" not in name:
        return name
    plain = _SPELLED.sub(_unescape, name)
    return plain if spell(plain) == name else name


def _unescape(found: re.Match[str]) -> str:
    sign = found[1]
    return found[0].encode().decode("unicode_escape") if sign[0].isalnum() and sign.isascii() else sign


class ServedTarget(NamedTuple):
    """The meaning of a caller's name. target: an id, for the methods of Recall. path: the caller's path.

    warnings: other meanings of the name, with documents as named in the store.
    """

    target: str
    path: str | None
    warnings: tuple[str, ...] = ()


class CallerNames(PathNames):
    """The document names that callers of one store see and give.

    A caller's name is looked up only among the store's live documents. It never opens, lists or searches files.
    """

    def __init__(self, recall: Recall, base: str | None = None) -> None:
        super().__init__(recall.store, recall.engine.base, base)
        self._renamed: dict[str, str] = {}

    def find(self, name: str) -> ServedTarget:
        """Return the document, lines, place or chunk of that name, plain or as spelled in answers.

        Names are tried as whole paths, then ids or their prefixes, then unique path endings.
        Raises UsageError `bad_path` for an invalid name, `ambiguous_path`, `ambiguous_id`; UnknownTarget with the
        nearest name.
        """
        for path in dict.fromkeys((unspell(name), name)):
            for whole, part in _readings(self._expect_name(path)):
                found = self._document(whole)
                if found is not None:
                    return self._served(found, part)
        path = self._expect_name(name)
        for whole, part in _readings(path):
            if _ID.fullmatch(whole) and (one := targets.by_id(self._store, whole)) is not None:
                return ServedTarget(one[1] + part, None)
        for whole, part in _readings(path):
            if (ending := self._ending(whole, part)) is not None:
                return self._served(ending, part)
        raise self._unknown(name)

    def find_missing(self, target: str) -> ServedTarget:
        """Return what a caller misses: a quoted text unchanged, a name as its id, any other text in quotes."""
        if len(target) > 2 and target[0] == target[-1] == '"':
            return ServedTarget(target, None)
        try:
            return self.find(target)
        except UnknownTarget:
            if " " not in target:
                raise
            return ServedTarget(f'"{target}"', None)

    def _served(self, doc_id: str, part: str) -> ServedTarget:
        path = next(iter(self._store.documents([self._store.rowid("doc", doc_id)]).values())).path
        warnings = () if part else tuple(self._other_meaning(path, doc_id))
        shown = self.shown(path)
        self._renamed |= {path: shown, doc_id: shown}  # errors use the caller's name from here on
        return ServedTarget(doc_id + part, shown, warnings)

    def _other_meaning(self, path: str, doc_id: str) -> Iterator[str]:
        """Yield a warning if a document's path is also a place in another document, with a name for that place."""
        named = targets.PART.fullmatch(path)
        other = named and at_place(self._store, [named["path"]], named, base=Path(self._home))
        if other and not doc_id.startswith(other):
            yield f"W_AMBIGUOUS_PATH: {path} is a place in another document too: get {other}"

    def stored(self, name: str) -> Iterator[str]:
        """Yield possible store names for a path, or path prefix, from a caller."""
        yield self._of_store(below(self._base) + name)
        for place in self._elsewhere():
            if f"{name}/".startswith(place.label):
                yield self._of_store(place.folder + name[len(place.label) :])

    def stored_as(self, name: str) -> str:
        """Return the store's form of a path prefix or pattern from a caller."""
        *_, found = self.stored(unspell(name))
        return found

    def _expect_name(self, name: str) -> str:
        path = nfc(name.removeprefix("./"))
        is_odd = path.startswith(("~", "\\"))
        if (
            not path
            or "\0" in path
            or path.startswith("/")
            or ".." in path.split("/")
            or (is_odd and not self._has(path))
        ):
            hint = "paths look as in an answer, such as notes/a.md"
            raise UsageError("bad_path", f"{name!r} is not a path in this store.", hint=hint)
        return path

    def _has(self, name: str) -> bool:
        return any(self._document(whole) for whole, _ in _readings(name))

    def _document(self, name: str) -> str | None:
        found = (self._store.document_at(path) for path in self.stored(name))
        return next((each for each in found if each is not None), None)

    def _ending(self, name: str, part: str) -> str | None:
        """Return the id of the only document whose path has this ending, in whole parts. Raises `ambiguous_path`."""
        paths = sorted(path for path in self._store.paths_with((name,), SOME) if path.endswith(f"/{name}"))
        if len(paths) > 1:
            some = " or ".join(self.shown(path) + part for path in paths[:_SHOWN]) + (
                " …" if len(paths) > _SHOWN else ""
            )
            raise UsageError("ambiguous_path", f"{len(paths)} paths end with {name}.", hint=some)
        return self._store.document_at(paths[0]) if paths else None

    def _unknown(self, name: str) -> UnknownTarget:
        near = self._near(name)
        message = f"The store has nothing named {name}."
        if not near:
            return UnknownTarget("unknown_target", message, hint="list the documents, or search for words")
        hint = f"did you mean {near[0]}?"
        return UnknownTarget("unknown_target", message, hint=hint, details={"near": near})

    def _near(self, name: str) -> list[str]:
        """Return similar paths, most similar first: from the same folder, or with a similar name in any folder."""
        folder, _, _ = name.rpartition("/")
        beside = [path for each in self.stored(folder) for path in self._store.paths_below(each)] if folder else []
        elsewhere = targets.nearest(self._store, name)
        shown = {self.shown(path): path for path in (*beside[:SOME], *([elsewhere] if elsewhere else ()))}
        return get_close_matches(name, shown, n=_SHOWN, cutoff=_SIMILAR) or list(
            map(self.shown, filter(None, [elsewhere]))
        )

    def _with_names(self, text: str) -> str:
        for stored, shown in self._renamed.items():
            text = text.replace(stored, shown)
        return text


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """Yield the whole name as a path, then splits into a path and lines, another place, or a part name."""
    yield name, ""
    parted = _PART.fullmatch(name)
    if parted:
        yield parted["path"], parted["part"]
    yield from ((name[:i], name[i:]) for i in reversed(targets.part_signs(name)))


Result = TypeVar("Result")
Work = Callable[[Recall], Result]
"""The work for a caller, on a connection that no other caller uses meanwhile."""

CONNECTIONS = 4
QUEUE = 64
SHARE, LEAST_SHARE = 4, 8
"""A session may use a quarter of the queue, or this many places if that is more."""
SECONDS = 60.0
"""The time limit of a query, including the wait in the queue."""
_USUAL_SECONDS = 0.05
"""The assumed duration of a query before any has finished."""
_NEWEST_SHARE = 0.1
"""The weight of the newest query in the running mean of durations."""


class Asked(Generic[Result]):
    """A queued or running query. `result` waits for it; `cancel` ends it in either state."""

    def __init__(self, work: Work[Result], seconds: float, session: object = None) -> None:
        self.session = session
        self.future: Future[Result] = Future()
        self._cancel = Cancel()
        self._work = work
        self._deadline = Deadline(check_seconds(seconds), monotonic, None, self._cancel)

    def cancel(self) -> None:
        """Cancel the query, so that the answer is Interrupted, unless it is done. May be called twice, from any
        thread.
        """
        self._cancel.set()
        self.future.cancel()

    def result(self) -> Result:
        """Wait for the answer and return it. Raises what the work raised; Interrupted if it was cancelled."""
        try:
            return self.future.result()
        except CancelledError:
            raise Interrupted("interrupted", "The query was cancelled.", hint="ask it again") from None

    def answer(self, recall: Callable[[], Recall]) -> None:
        """Run the work and store its result or error. Does nothing if the query was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            with until(self._deadline):
                check()  # it may have timed out in the queue
                done = self._work(recall())
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            self.future.set_exception(error)
        else:
            self.future.set_result(done)


class StoreSettings(NamedTuple):
    """The arguments of `Recall.open` for the served store.

    is_for_others: callers may not be users of this machine, see `Engine.is_for_others`.
    agent: serve the memory of this agent instead.
    """

    store: str | None = None
    start: Path | None = None
    trust: bool = False
    is_for_others: bool = True
    agent: str | None = None

    def open(self) -> Recall:
        """Open the store."""
        if self.agent is not None:
            return Recall.agent(self.agent, start=self.start)
        return Recall.open(self.store, start=self.start, trust=self.trust)


class ConnectionPool:
    """Connections to one store, each with its own thread; queries wait in one queue, oldest first.

    Connections share cached data of a store state and the embedder's model. A connection opens with its first query,
    if no open one is idle, and again if the store's file or recall.toml changed. A missing store is tried again with
    each query.
    """

    def __init__(
        self,
        settings: StoreSettings,
        *,
        connections: int = CONNECTIONS,
        queue: int = QUEUE,
        models: Models | None = None,
        cache: QueryCache | None = None,
    ) -> None:
        self.settings = settings
        self._most = queue
        self._most_of_session = min(queue, max(LEAST_SHARE, queue // SHARE))
        self._queue: deque[Asked[Any]] = deque()
        self._changed = Condition()
        self._running: set[Asked[Any]] = set()
        self._is_closed = False
        self._mean_seconds = _USUAL_SECONDS
        self._models = models or Models()
        self._cache = cache
        self.follower: Follower | None = None
        """Syncs the store, also before a query if the settings want that."""
        self._connections = connections
        self._threads: list[Thread] = []
        self._idle = 0

    def ask(
        self, work: Work[Result], *, seconds: float = SECONDS, session: object = None, is_search: bool = False
    ) -> Asked[Result]:
        """Queue a query. session: its session, or None. is_search: the answer depends on every file.

        Raises Busy if the queue, or the session's share of it, is full; UsageError `closed` after `close`.
        """
        follower = self.follower

        def prepared(recall: Recall) -> Result:
            if follower is not None:
                follower.prepare(session, is_search=is_search)
            return work(recall)

        asked = Asked(prepared, seconds, session)
        with self._changed:
            if self._is_closed:
                raise UsageError("closed", "The server is closing and takes no more queries.", hint="start it again")
            own = [each for each in self._queue if session is not None and each.session == session]
            if len(self._queue) >= self._most or len(own) >= self._most_of_session:
                self._queue = deque(each for each in self._queue if not each.future.cancelled())
                own = [each for each in own if not each.future.cancelled()]
            if len(self._queue) >= self._most or len(own) >= self._most_of_session:
                raise self._busy(len(own) if len(self._queue) < self._most else None)
            self._queue.append(asked)
            if len(self._queue) > self._idle and len(self._threads) < self._connections:
                name = f"recall-serving-{len(self._threads)}"
                self._threads.append(Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
            self._changed.notify()
        return asked

    def close(self) -> None:
        """Take no more queries, end the running ones, and close the store."""
        with self._changed:
            self._is_closed = True
            left = [*self._queue, *self._running]
            self._changed.notify_all()
        for asked in left:
            asked.cancel()
        for thread in self._threads:
            thread.join()

    def _busy(self, own: int | None) -> Busy:
        """Return the error for a full queue. own: queries of the session, if only its share is full."""
        seconds = round(max(0.1, self._mean_seconds * len(self._queue) / self._connections), 1)
        of_session = "" if own is None else " of this session"
        message = f"{len(self._queue) if own is None else own} queries{of_session} are already waiting."
        hint = f"ask again in {seconds:g} s"
        return Busy("busy", message, hint=hint, details={"retry_after_seconds": seconds})

    def _serve(self) -> None:
        """Run one connection's thread."""
        connection = _Connection(self.settings, self._models, self._cache)
        try:
            while (asked := self._next()) is not None:
                started = monotonic()
                asked.answer(connection.recall)
                with self._changed:
                    self._running.discard(asked)
                    self._mean_seconds += _NEWEST_SHARE * (monotonic() - started - self._mean_seconds)
        finally:
            connection.close()

    def _next(self) -> Asked[Any] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            self._idle -= 1
            if not self._queue:
                return None
            asked = self._queue.popleft()
            self._running.add(asked)
            return asked


class Models:
    """Embedders shared by connections and pools, by identity. Recall's own embedders allow many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, Embedder] = {}

    def give(self, recall: Recall) -> None:
        """Use the embedder that another connection loaded, or share this one."""
        with self._lock, suppress(RecallError):  # a query by words needs none; other queries report the error
            identity = recall.store.embedder()
            kept = self._kept.get(identity)
            if kept is not None:
                recall.engine.use_embedder(kept)
                return
            made = recall.engine.embedder
            if type(made).__module__.startswith("recall_core."):
                self._kept = {identity: made}


class _Connection:
    """One thread's Recall, opened on demand, and again if its files changed."""

    def __init__(self, settings: StoreSettings, models: Models, cache: QueryCache | None) -> None:
        self._settings = settings
        self._models = models
        self._cache = cache
        self._recall: Recall | None = None
        self._toml: tuple[int, int, int] | None = None

    def recall(self) -> Recall:
        """Return an open store. Raises the errors of opening it."""
        recall = self._recall
        if recall and (recall.store.is_replaced() or _stamp(recall.engine.found.toml) != self._toml):
            self.close()
        if self._recall is None:
            opened = self._settings.open()
            self._toml = _stamp(opened.engine.found.toml)
            opened.engine.cache = self._cache
            opened.engine.is_for_others = self._settings.is_for_others
            self._models.give(opened)
            self._recall = opened
        return self._recall

    def close(self) -> None:
        """Close the store if it is open."""
        if self._recall is not None:
            with suppress(StoreError):  # another process may own it now
                self._recall.close()
            self._recall = None


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Return a stamp that changes with a file's content; None if the file is missing."""
    try:
        status = os.stat(file)  # noqa: PTH116 - runs before every query
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


REST_MS = 1_500
_SESSIONS = 1_000
"""Most sessions that are known as begun. The oldest are forgotten."""
_AGAIN_SECONDS = 5.0
"""The pause after a failure."""


class Following(NamedTuple):
    """When to sync a served store.

    on_boot: once at the start. interval: seconds between syncs, 0 for never. on_session: when a client's session
    starts. on_search_ms: before a search if a file changed; the search waits at most this long, 0 for never.
    """

    watch: bool = False
    on_boot: bool = False
    interval: float = 0.0
    on_session: bool = False
    on_search_ms: int = 0


def following_for(
    settings: StoreSettings, *, watch: bool, on_boot: bool, interval: float, say: Callable[[str], None]
) -> Following:
    """Return when to sync a store: as the arguments say, else the person's settings, else an accepted recall.toml.

    For an agent, agents.toml comes before the person's settings, and a memory that is switched off is never synced.
    say: receives the reason if recall.toml waits to be accepted.
    Raises UsageError `unknown_agent` and what `agents.load` raises.
    """
    if settings.agent is not None:
        agent = agents.load(settings.start).find(settings.agent)
        if not agent.is_enabled:
            return Following()
        given = agents.syncing(agent, SYNCED, os.environ)
    else:
        config = Config()
        with suppress(RecallError):  # the store may come later
            found = find(settings.store, start=settings.start).settings(is_vouched=settings.trust)
            if (refusal := found.refusal(SYNC)) is None:
                config = found.config
            else:
                say(f"not synced as recall.toml wants: {refusal.message} {refusal.hint}")
        given = agents.syncing(None, config._asdict(), os.environ)
    boot, session, search_ms, change, seconds = (given[key] for key in SYNCING)
    return Following(watch or change, on_boot or boot, interval or seconds, session, search_ms)


class Follower:
    """Threads that sync a store on their own connections while queries run.

    say: receives what each sync changed, or why it failed. Failed syncs are tried again.
    """

    def __init__(self, settings: StoreSettings, following: Following, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._following = following
        self._say = say
        self._stop = Event()
        self._writing = Lock()
        self._open: set[Recall] = set()
        self._threads: list[Thread] = []
        self._sessions: dict[object, None] = {}
        self._caught_up = Condition()
        self._asked = self._answered = 0
        self._is_running = False
        self._synced: dict[str, tuple[int, int]] | None = None
        """What the last sync before a search looked at."""

    def start(self) -> None:
        """Start the threads."""
        works = []
        if self._following.watch:
            works.append(self._watch)
        if self._following.interval:
            works.append(self._every)
        if self._following.on_boot and not self._following.watch:  # a watch starts with a sync
            works.append(self._once)
        self._threads = [
            Thread(target=work, name=f"recall-{work.__name__.strip('_')}", daemon=True) for work in works
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop, including a running write. Committed changes stay."""
        self._stop.set()
        for recall in tuple(self._open):
            recall.end()
        for thread in tuple(self._threads):
            thread.join()

    def prepare(self, session: object, *, is_search: bool) -> None:
        """Sync before a call if the settings want that. A search waits for it, but at most `on_search_ms`."""
        waits_ms = self._following.on_search_ms if is_search else 0
        with self._caught_up:
            is_new = session not in self._sessions
            self._sessions[session] = None
            if len(self._sessions) > _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            if self._stop.is_set() or not (waits_ms or (is_new and self._following.on_session)):
                return
            self._asked += 1
            number = self._asked
            if not self._is_running:
                self._is_running = True
                self._threads.append(Thread(target=self._catch_up, name="recall-catch-up", daemon=True))
                self._threads[-1].start()
            self._caught_up.wait_for(lambda: self._answered >= number, waits_ms / 1_000)

    def _catch_up(self) -> None:
        """Sync for the calls that asked, as long as there are any, if a file changed since the last time."""
        while True:
            with self._caught_up:
                self._is_running = self._answered < self._asked and not self._stop.is_set()
                number = self._asked
                if not self._is_running:
                    self._threads.remove(current_thread())
                    return
            with self._trying(), self._recall() as recall:
                engine = recall.engine
                there = watch.statuses(recall.store.roots(), base=engine.base, config=engine.config)
                if there != self._synced:
                    self._sync(recall)
                    self._synced = there
            with self._caught_up:
                self._answered = number
                self._caught_up.notify_all()

    def _once(self) -> None:
        with self._trying(), self._recall() as recall:
            self._sync(recall)

    def _every(self) -> None:
        while not self._stop.wait(self._following.interval):
            self._once()

    def _watch(self) -> None:
        while not self._stop.is_set():
            with self._trying(), self._recall() as recall:
                for _ in recall.changes(self._stop, rest_ms=REST_MS):
                    if self._stop.is_set():
                        break
                    self._sync(recall)
            self._stop.wait(_AGAIN_SECONDS)  # the store was replaced, or a folder is missing

    def _sync(self, recall: Recall) -> None:
        with self._writing:
            told = _report_changes(result_of(recall.sync()))
        if told:
            self._say(told)

    @contextmanager
    def _trying(self) -> Iterator[None]:
        try:
            yield
        except Interrupted:
            self._stop.set()
        except RecallError as error:
            self._say(f"sync failed: {error.message}")

    @contextmanager
    def _recall(self) -> Iterator[Recall]:
        with self._settings.open() as recall:
            self._open.add(recall)
            if self._stop.is_set():  # close() may have missed a connection that was still opening
                recall.end()
            try:
                yield recall
            finally:
                self._open.discard(recall)


def _report_changes(response: IngestResponse) -> str:
    """Return what a sync changed, and the files whose parsers timed out; "" for nothing."""
    view = response["ingest"]
    counts = {name: view[name] for name in ("added", "updated", "removed")}
    slow = [one_line(skip["path"]) for skip in view["skipped"] if skip["code"] == "parser_timeout"]
    return ", ".join(
        [f"{count} {name}" for name, count in counts.items() if count]
        + [f"{path} skipped (parser_timeout)" for path in slow]
    )
