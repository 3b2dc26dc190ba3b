"""Shared code of the crash tests: commands with their folders, and the promises after any end."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import time_ns
from typing import Any, NamedTuple

import apsw

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.files import find, is_part
from recall_core.store.sqlite.schema import MIGRATIONS, migrate
from recall_core.store.values import JudgementRow
from recall_core.types import Root
from tests.builders import MTIME_NS, letters, pieces_left

SETTINGS = {"embedding_dim": 64, "chunk_tokens": 24, "overlap_tokens": 0}
SECRETS = {kind: letters(kind) for kind in ("text", "old text", "title", "tag", "source", "meta")}
"""Texts that a purge removes: words of random letters that occur nowhere else."""

_WORDS = (
    "quokka wombat heron minnow trout smiles digs hunts stalks eats leaves grass river bank morning evening slowly "
    "quietly north south stone branch shadow water under over beside before after every other never always small"
).split()


class Scene(NamedTuple):
    """A command and its folder.

    prepare: makes the folder before the command, with the given number of files.
    argv: the command; `{base}` means the folder.
    again: exit codes of a repeated command that finds nothing left to do.
    secrets: texts that no file of the store may contain afterwards.
    files: files that are complete and new, or unchanged.
    is_damaged: doctor reports errors before the command.
    """

    name: str
    prepare: Callable[[Path, int], None]
    argv: tuple[str, ...]
    again: tuple[int, ...] = ()
    secrets: tuple[str, ...] = ()
    files: tuple[str, ...] = ("recall.toml",)
    is_damaged: bool = False


class State(NamedTuple):
    """The content of a store, and the files written by a command, by name."""

    export: str
    judgements: tuple[JudgementRow, ...]
    roots: tuple[Any, ...]
    files: dict[str, bytes]


def run(scene: Scene, base: Path) -> int:
    """Run the scene's command in this process and return its exit code; all errors must be deliberate."""
    return command(base, *scene.argv)[0]


def command(base: Path, *argv: str) -> tuple[int, Any]:
    """Run a command on the store in that folder; return its exit code and answer."""
    out = io.StringIO()
    code = cli.main(spelled(base, argv), streams=Streams(io.StringIO(), out, io.StringIO()))
    answer = json.loads(out.getvalue() or "{}")
    assert answer.get("error", {}).get("code") != "internal_error", answer
    return code, answer


def spelled(base: Path, argv: Sequence[str]) -> list[str]:
    """Return the command line for Recall."""
    store = [] if argv[0] == "init" else ["--store", str(base / "recall.db")]
    return [*(word.replace("{base}", str(base)) for word in argv), "--json", *store]


def errors(base: Path) -> set[str]:
    """Return the error codes of doctor, or the code of the error if there is no store."""
    _, answer = command(base, "doctor")
    if "checks" not in answer:
        return {answer["error"]["code"]}
    return {check["code"] for check in answer["checks"] if check["severity"] == "error"}


def state(scene: Scene, base: Path) -> State:
    """Return the content of the store in that folder."""
    with Recall.open(str(base)) as recall:
        out = io.StringIO()
        recall.export(out)
        roots = tuple(recall.store.known_roots())
        judgements = tuple(recall.store.judgements())
    return State(out.getvalue(), judgements, roots, files_of(scene, base))


def files_of(scene: Scene, base: Path) -> dict[str, bytes]:
    """Return the content of the scene's existing files."""
    return {name: (base / name).read_bytes() for name in scene.files if (base / name).exists()}


def expect_whole(scene: Scene, stage: Stage, base: Path, *, committed: int = 0) -> None:
    """Check the promises after any end of a command: no commit is lost, nothing is damaged, and it can run again.

    The second run leads to the state of an undisturbed run. committed: the last reported generation.
    """
    undisturbed, before, there = stage.undisturbed(scene), stage.before(scene), files_of(scene, base)
    for name in scene.files:
        assert there.get(name) in (before.get(name), undisturbed.files.get(name)), name
    assert [name for name in stage.unknown(scene, base) if not is_part(name)] == []
    found = errors(base)
    assert found <= {"purge_pending"} or scene.is_damaged
    assert scene.is_damaged or command(base, "stats")[1]["store"]["generation"] >= committed
    is_over = not found and state(scene, base) == undisturbed
    code = run(scene, base)
    assert code == 0 or (is_over and code in scene.again), code
    assert errors(base) == set()
    if code:  # it had nothing left to do, so the next writer removes the leftovers of the killed run
        assert command(base, "compact")[0] == 0
    assert [
        part for part in find(base) if part.state != "living"
    ] == []  # a cut leaves copies made by this very process
    assert state(scene, base) == undisturbed
    assert pieces_left(base, *scene.secrets, pieces=stage.vectors(scene)) == []


@contextmanager
def commits_told(tell: Callable[[int], None]) -> Iterator[None]:
    """Call `tell` inside the block as soon as SQLite reports a commit to a connection.

    `tell` gets the generation of the store, or 0 for a commit to another file.
    """

    def hook(db: apsw.Connection) -> None:
        if db.filename and not is_asking:
            db.trace_v2(apsw.SQLITE_TRACE_PROFILE, told)

    def told(event: dict[str, Any]) -> None:
        db = event["connection"]
        if not event["sql"].startswith(("COMMIT", "RELEASE", "VACUUM")) or db.in_transaction:
            return
        is_asking.append(True)
        tell(_generation(db.filename) if db.filename.endswith("/recall.db") else 0)
        is_asking.clear()

    is_asking: list[bool] = []
    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


def _generation(path: str) -> int:
    """Return the number of write transactions of a store file, or 0 if it is unreadable."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return int(db.execute("SELECT value FROM meta WHERE key = 'generation'").get)
    except (apsw.SQLError, apsw.CorruptError):
        return 0
    finally:
        db.close()


def _vectors(base: Path) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Return every two adjacent non-zero numbers in vectors of secret texts, and in all other vectors."""
    pieces: tuple[set[bytes], set[bytes]] = (set(), set())
    db = apsw.Connection(str(base / "recall.db"))
    for is_secret, vector in db.execute(_EVERY_VECTOR):
        halves = [vector[start : start + 4] for start in range(0, len(vector), 4)]
        pairs = (first + second for first, second in pairwise(halves) if any(first) and any(second))
        pieces[not is_secret].update(pairs)
    db.close()
    assert pieces[0]
    return frozenset(pieces[0]), frozenset(pieces[1])


_EVERY_VECTOR = """
SELECT d.path LIKE 'secret/%', v.embedding FROM chunk c JOIN doc d ON d.rowid = c.doc
JOIN (
  SELECT chunk, NULL AS text_hash, embedding FROM vec UNION ALL SELECT NULL, text_hash, embedding FROM vec_cache
) v ON v.chunk = c.rowid OR v.text_hash = c.text_hash
"""


class Stage:
    """Folders for scenes: each is prepared once and copied for every trial."""

    def __init__(self, folder: Path, *, files: int) -> None:
        self._folder = folder
        self._files = files
        self._trials = 0
        self._states: dict[str, State] = {}
        self._vectors: dict[str, frozenset[bytes]] = {}

    def trial(self, scene: Scene) -> Path:
        """Return a prepared folder for the scene's command."""
        self._trials += 1
        base = self._folder / f"{scene.name}-{self._trials}"
        shutil.copytree(self._prepared(scene), base)
        return base

    def undisturbed(self, scene: Scene) -> State:
        """Return the state after one undisturbed run of the scene's command."""
        if scene.name not in self._states:
            base = self.trial(scene)
            assert run(scene, base) == 0
            assert errors(base) == set()
            assert pieces_left(base, *scene.secrets, pieces=self.vectors(scene)) == []
            self._states[scene.name] = state(scene, base)
            self.end(base)
        return self._states[scene.name]

    def vectors(self, scene: Scene) -> frozenset[bytes]:
        """Return pieces of the purged vectors that occur in no other vector."""
        if scene.name not in self._vectors:
            found = _vectors(self._prepared(scene)) if scene.secrets else (frozenset(), frozenset())
            self._vectors[scene.name] = found[0] - found[1]
        return self._vectors[scene.name]

    def unknown(self, scene: Scene, base: Path) -> list[str]:
        """Return files that neither existed before the command nor belong to its output."""
        known = {path.name for path in self._prepared(scene).iterdir()} | {*scene.files}
        names = sorted(path.name for path in base.iterdir())
        return [name for name in names if name not in known and not name.startswith("recall.db")]

    def before(self, scene: Scene) -> dict[str, bytes]:
        """Return the content of the scene's files before its command."""
        return files_of(scene, self._prepared(scene))

    def end(self, base: Path) -> None:
        """Remove the folder of a trial."""
        shutil.rmtree(base)

    def _prepared(self, scene: Scene) -> Path:
        base = self._folder / scene.name
        if not base.exists():
            base.mkdir()
            Recall.init(str(base), settings=SETTINGS)
            scene.prepare(base, self._files)
        return base


def write(base: Path, name: str, text: str, *, age: int = 0) -> None:
    """Write a file with a distinct modification time."""
    path = base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(MTIME_NS + age, MTIME_NS + age))


def notes(base: Path, files: int, *, version: int = 0, step: int = 1) -> None:
    """Write `files` files of several chunks each, or every `step`-th of them."""
    for number in range(0, files, step):
        rng = random.Random(f"{number} {version}")
        paragraphs = [" ".join(rng.choices(_WORDS, k=rng.randint(10, 30))) for _ in range(12)]
        text = f"# Note {number}\n\n" + "\n\n".join(paragraphs)
        write(base, f"notes/note{number:03}.md", text, age=number + 1_000 * version)


def _to_init(base: Path, files: int) -> None:
    """Prepare a folder without a store."""
    for name in ("recall.db", "recall.toml"):
        (base / name).unlink()


def _to_add(base: Path, files: int) -> None:
    write(base, "before/old.md", "# Before\n\nWhat was there before.\n")
    assert command(base, "add", "{base}/before")[0] == 0
    notes(base, files)


def _to_note(base: Path, files: int) -> None:
    _to_add(base, files)
    assert command(base, "add", "{base}/notes", "--tag", "note")[0] == 0


def _to_sync(base: Path, files: int) -> None:
    _to_note(base, files)
    notes(base, files, version=1, step=2)
    notes(base / "notes", files // 3, version=2)
    for number in range(1, files, 6):
        (base / f"notes/note{number:03}.md").unlink()


def _to_keep_sessions(base: Path, files: int) -> None:
    """Prepare sessions of which every second one grew, some waiting for more, and an old one of two versions."""
    with (base / "recall.toml").open("r+", encoding="utf-8") as toml:
        settings = toml.read().replace("retention_days = 0", "retention_days = 30")
        toml.seek(0)
        toml.write(settings.replace("session_min_messages = 0", "session_min_messages = 2"))
    now = time_ns() - MTIME_NS
    for number in range(files):
        write(base, f"live/s{number}.jsonl", session(number, 12), age=now)
    for age, kind in enumerate(("old text", "text")):
        write(base, "secret/diary.jsonl", session(-1, 6, SECRETS[kind]), age=now + age)
        assert command(base, "add", "{base}/secret", "{base}/live")[0] == 0
    write(base, "secret/diary.jsonl", session(-1, 6, SECRETS["text"]))
    for number in range(files):
        write(base, f"live/s{number}.jsonl", session(number, 12 + 5 * (number % 2) + number % 3), age=now + 9)


def session(number: int, turns: int, secret: str = "") -> str:
    """Return a transcript of this many turns; a longer one begins with a shorter one."""
    rng = random.Random(f"session {number}")
    texts = [" ".join(rng.choices(_WORDS, k=20)) for _ in range(turns)]
    lines = [
        {"role": "user" if turn % 2 else "assistant", "content": f"{text} {secret}"}
        for turn, text in enumerate(texts)
    ]
    return "".join(json.dumps({"type": "message", "message": line}) + "\n" for line in lines)


def _to_compact(base: Path, files: int) -> None:
    _to_sync(base, files)
    assert command(base, "sync")[0] == 0
    assert command(base, "rm", "{base}/before")[0] == 0


def _to_import(base: Path, files: int) -> None:
    _to_note(base, files)
    assert command(base, "export", "--out", "{base}/all.jsonl")[0] == 0
    _to_init(base, files)
    Recall.init(str(base), settings=SETTINGS)
    write(base, "mine/own.md", "# Mine\n\nWhat nobody exported.\n")
    assert command(base, "add", "{base}/mine")[0] == 0


def _to_purge(base: Path, files: int) -> None:
    """Prepare a document of two versions, with labels and a judgement."""
    _to_note(base, files // 2)
    notes(base, files)
    labels = Root("", tags=(SECRETS["tag"],), meta=(("key", SECRETS["meta"]),), source=SECRETS["source"])
    for age, kind in enumerate(("old text", "text")):
        write(base, "secret/diary.md", f"# {SECRETS['title']}\n\n{SECRETS[kind]}\n", age=age)
        with Recall.open(str(base)) as recall:
            recall.index(str(base / "secret"), template=labels)
    with Recall.open(str(base)) as recall, recall.store.judging() as writer:
        writer.put_query("q", "heron?")
        writer.put_query("kept", "quokka?")
        writer.put(JudgementRow("q", "secret/diary.md", 0, -1, 2))
        writer.put(JudgementRow("kept", "notes/note000.md", 0, -1, 1))


def _to_migrate(base: Path, files: int) -> None:
    """Prepare a store in the previous schema."""
    _to_note(base, files)
    new = base / "new.db"
    (base / "recall.db").rename(new)
    db = apsw.Connection(str(base / "recall.db"))
    db.pragma("journal_mode", "wal")
    migrate(db, version=0, steps=MIGRATIONS[:2])
    db.execute("ATTACH ? AS new", (str(new),))
    for table in ("meta", "root", "file", "doc", "doc_tag", "chunk", "vec"):
        columns = ", ".join(column for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,)))
        db.execute(f"INSERT INTO {table}({columns}) SELECT {columns} FROM new.{table}")
    db.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
    db.close()
    new.unlink()


def _to_copy(base: Path, files: int) -> None:
    _to_note(base, files)
    for name in ("out.jsonl", "copy.db"):
        write(base, name, "what stood there before\n")


def _to_fix(base: Path, files: int) -> None:
    """Prepare a store with a damaged index and damaged words; everything can be rebuilt."""
    _to_note(base, files)
    _spoil(base / "recall.db", "chunk_text_hash", "chunk_fts_data")


def _to_recover(base: Path, files: int) -> None:
    _to_note(base, files)
    shutil.copy(base / "recall.db", base / "old.db")
    _spoil(base / "old.db", "chunk_text_hash", "chunk_fts_data")


def _to_copy_secrets(base: Path, files: int) -> None:
    """Prepare a store with secrets, a damaged copy of it, and a folder that could be another disk."""
    _to_purge(base, files)
    shutil.copy(base / "recall.db", base / "old.db")
    _spoil(base / "old.db", "chunk_text_hash", "chunk_fts_data")
    (base / "away").mkdir()


def _to_fix_secrets(base: Path, files: int) -> None:
    _to_purge(base, files)
    _spoil(base / "recall.db", "chunk_text_hash", "chunk_fts_data")


def _spoil(path: Path, *names: str) -> None:
    """Overwrite the root pages of these tables and indexes with zeroes."""
    db = apsw.Connection(str(path))
    size = db.pragma("page_size")
    pages = [db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get for name in names]
    db.close()
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(bytes(size))


INIT = Scene("init", _to_init, ("init", "{base}", "--set", "embedding_dim=64"), (1,), is_damaged=True)
ADD = Scene("add", _to_add, ("add", "{base}/notes", "--tag", "note"))
SYNC = Scene("sync", _to_sync, ("sync",))
SESSIONS = Scene("sessions", _to_keep_sessions, ("sync",), secrets=(SECRETS["text"], SECRETS["old text"]))
COMPACT = Scene("compact", _to_compact, ("compact",))
IMPORT = Scene("import", _to_import, ("import", "{base}/all.jsonl"))
REEMBED = Scene("reembed", _to_note, ("reembed", "hash", "--set", "embedding_dim=128"))
RECHUNK = Scene("rechunk", _to_note, ("rechunk", "--chunk-tokens", "12", "--overlap-tokens", "4"))
PURGE = Scene("purge", _to_purge, ("rm", "--purge", "{base}/secret"), secrets=tuple(SECRETS.values()))
MIGRATE = Scene("migrate", _to_migrate, ("roots",))
EXPORT = Scene("export", _to_copy, ("export", "--out", "{base}/out.jsonl"), files=("out.jsonl",))
RECEIPT = Scene("receipt", _to_note, ("search", "quokka", "--receipt", "{base}/r.json"), (1, 2), files=("r.json",))
BACKUP = Scene("backup", _to_copy, ("backup", "{base}/copy.db", "--force"), files=("copy.db",))
FIX = Scene("fix", _to_fix, ("doctor", "--fix"), is_damaged=True)
RECOVER = Scene("recover", _to_recover, ("recover", "{base}/old.db", "{base}/new.db"), (1,), files=("new.db",))

COPIES = (
    Scene("backup away", _to_copy_secrets, ("backup", "{base}/away/copy.db"), files=("away/copy.db",)),
    Scene("export away", _to_copy_secrets, ("export", "--out", "{base}/away/out.jsonl"), files=("away/out.jsonl",)),
    Scene(
        "recover away", _to_copy_secrets, ("recover", "{base}/old.db", "{base}/away/new.db"), files=("away/new.db",)
    ),
    Scene("backup here", _to_copy_secrets, ("backup", "{base}/copy.db"), files=("copy.db",)),
    Scene("fix secrets", _to_fix_secrets, ("doctor", "--fix"), files=(), is_damaged=True),
)
"""Commands that copy a whole store. files: the requested copies."""

SCENES = (INIT, ADD, SYNC, COMPACT, IMPORT, REEMBED, RECHUNK, PURGE, MIGRATE, EXPORT, RECEIPT, BACKUP, FIX, RECOVER)
"""Every command that writes; a new one takes a line here."""
