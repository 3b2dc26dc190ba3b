"""The weights: the current settings, each change of them, and the rows of their form. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from recall_core.config import SETTINGS, Config, assignments, override
from recall_core.errors import RecallError
from recall_core.evaluate.measures import retrieval
from recall_core.text import cite
from recall_tui.home.history import KeptRow, PastQuestion
from recall_tui.state.records import Moved, QuestionChange, Tweaks
from recall_tui.state.session import WORDS_K, Session, ask, filter_of, list_range, move_cursor

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer
    from recall_tui.state.records import Chart

KEYS = tuple(key for key, setting in SETTINGS.items() if setting.live and key != "budget_tokens")
"""Settings that can be changed here, in the order in which they are written. A budget is typed, not tuned."""
UNDO_MOST = 200
K_STEPS = (1, 2, 3, 5, 10, 15, 20, 30, 50, *(first * 10**power for power in range(2, 6) for first in (1, 2, 5)))
STEPS: dict[str, tuple[int, ...]] = {
    "pool": tuple(first * 10**power for power in range(1, 6) for first in (1, 2, 5)),
    "rrf_k": (0, 1, 2, 5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 500, 1_000),
}
"""Stops of the keys for whole numbers. Each step is large enough to have an effect."""


def current(session: Session) -> Config:
    """Return the settings that the pane shows: those of the question, and the tweaks that it does not override."""
    start = session.weights.plain or session.weights.saved or Config()
    free = {key: value for key, value in session.weights.tweaks.items() if key not in session.weights.fixed}
    return start._replace(**free)  # type: ignore[arg-type]


def is_ranking(session: Session) -> bool:
    """Return True while the current candidates are being ranked again."""
    return (
        session.results.answered == session.query.question and session.results.ranked_at != session.query.generation
    )


def share(config: Config) -> float:
    """Return the semantic share of the weights, 0 to 1. Two weights of 0 count as equal."""
    total = config.bm25_weight + config.vector_weight
    return config.vector_weight / total if total > 0 else 0.5


def exact_share(config: Config) -> Fraction:
    """Return the exact semantic share of the decimals. Two weights of 0 count as equal."""
    words, meaning = Fraction(str(config.bm25_weight)), Fraction(str(config.vector_weight))
    return meaning / (words + meaning) if words + meaning else Fraction(1, 2)


def set_share(session: Session, semantic: float, *, joins: bool = False) -> Session:
    """Return the session with this semantic share, in hundredths, and the rest for the lexical signal.

    joins: part of the change before, as in a drag, so that one undo reverts both.
    """
    semantic = round(min(1.0, max(0.0, semantic)), 2)
    return move_settings(session, {"bm25_weight": round(1 - semantic, 2), "vector_weight": semantic}, joins=joins)


def set_exact_share(session: Session, semantic: float) -> Session:
    """Return the session with exactly this semantic share."""
    share_of = Fraction(str(semantic))
    return move_settings(session, {"bm25_weight": float(1 - share_of), "vector_weight": float(share_of)})


def nudge_share(session: Session, hundredths: int) -> Session:
    """Return the session with the semantic share increased by hundredths."""
    return set_share(session, share(current(session)) + hundredths / 100)


def turn_choice(session: Session, key: str, steps: int = 1) -> Session:
    """Return the session with a setting's choice `steps` further, wrapping around. A switch has two choices."""
    now = getattr(current(session), key)
    if isinstance(now, bool):
        return move_settings(session, {key: not now})
    choices = choices_of(session, key)
    return move_settings(session, {key: choices[(choices.index(now) + steps) % len(choices)]})


def choices_of(session: Session, key: str) -> tuple[str, ...]:
    """Return the choices of a setting. ts_rank, which files refuse, is one only if it is saved or in use."""
    known = [getattr(config, key) for config in (current(session), session.weights.saved or Config())]
    return tuple(each for each in SETTINGS[key].choices if each != "ts_rank" or each in known)


def raise_min_score(session: Session, hundredths: int) -> Session:
    """Return the session with the minimum score increased by hundredths, within 0 to 1."""
    return move_settings(
        session, {"min_score": round(min(1.0, max(0.0, current(session).min_score + hundredths / 100)), 2)}
    )


def step_number(session: Session, key: str, steps: int) -> Session:
    """Return the session with a whole number one stop up or down."""
    return move_settings(session, {key: _stop(STEPS[key], getattr(current(session), key), steps)})


def step_k(session: Session, steps: int) -> Session:
    """Return the session that asks for fewer or more rows, starting from the LIMIT of a query in RQL or from 50.

    The upper limit is the number of rows.
    """
    answer = session.results.answer
    if answer is None:
        return session
    now = answer.plan.limit if session.weights.k is None else session.weights.k
    stop = _stop(K_STEPS, now, steps)
    most = max(answer.total, WORDS_K)
    k: int | None = min(stop, max(now, most)) if steps > 0 else stop
    if k == WORDS_K and answer.plan.rql is None:
        k = None
    return session if k == session.weights.k else _record_change(session, Moved(session.weights.tweaks, k))


def drop_moves(session: Session, keys: Iterable[str]) -> Session:
    """Reset these settings and the number of rows, since the question now sets them itself."""
    left = {key: value for key, value in session.weights.tweaks.items() if key not in keys}
    undo = (*session.weights.undo, Moved(session.weights.tweaks, session.weights.k))[-UNDO_MOST:]
    return session._replace(weights=session.weights._replace(tweaks=left, k=None, undo=undo, redo=()))


def move_settings(session: Session, changes: Tweaks, *, joins: bool = False) -> Session:
    """Return the session with these settings changed, or the same session if nothing changes.

    A setting that returns to the question's value is no longer a tweak. A setting that affects the candidates starts
    a new question, since they must be searched again.
    """
    if all(getattr(current(session), key) == value or key in session.weights.fixed for key, value in changes.items()):
        return session
    start = session.weights.plain or session.weights.saved or Config()
    moved = {**session.weights.tweaks, **changes}
    tweaks = {key: moved[key] for key in KEYS if key in moved and moved[key] != getattr(start, key)}
    return _record_change(session, Moved(tweaks, session.weights.k), joins=joins)


def set_moves(session: Session, moved: Moved) -> Session:
    """Return the session with exactly these changes, or the same session if it already has them."""
    return session if moved == Moved(session.weights.tweaks, session.weights.k) else _record_change(session, moved)


def recall_question(session: Session, text: str, filters: str, moved: Moved) -> Session:
    """Ask this question with this filter and exactly these changes, as one step for undo."""
    now, then = (session.query.text, session.query.filter), (text, filters)
    saved = session.weights.saved or Config()
    differing = (key for key in KEYS if key in moved.tweaks and moved.tweaks[key] != getattr(saved, key))
    tweaks = {key: moved.tweaks[key] for key in differing}
    target = Moved(tweaks, moved.k)
    if now == then and target == Moved(dict(session.weights.tweaks), session.weights.k):
        return session
    fresh = _record_change(session, target, question=QuestionChange(now, then))
    return ask(fresh._replace(query=fresh.query._replace(filter=filters)), text, session.query.asked_at)


def is_moved(session: Session) -> bool:
    """Return True if a setting differs from its saved value."""
    return bool(session.weights.tweaks) or session.weights.k is not None


def reset(session: Session) -> Session:
    """Return the session under the saved settings. Undo restores the tweaks."""
    return _record_change(session, Moved()) if is_moved(session) else session


def undo(session: Session) -> Session:
    """Return the session before the newest change."""
    if not session.weights.undo:
        return session
    *earlier, before = session.weights.undo
    fresh = _go_to(session, before)
    return fresh._replace(
        weights=fresh.weights._replace(undo=tuple(earlier), redo=(*session.weights.redo, _way_back(session, before)))
    )


def redo(session: Session) -> Session:
    """Return the session with the last undone change made again."""
    if not session.weights.redo:
        return session
    *others, after = session.weights.redo
    fresh = _go_to(session, after)
    return fresh._replace(
        weights=fresh.weights._replace(undo=(*session.weights.undo, _way_back(session, after)), redo=tuple(others))
    )


def confirm_save(session: Session, saved: Tweaks, *, was: Config) -> Session:
    """Return the session after these settings were saved to recall.toml. The other tweaks stay.

    Undo returns to the values before, and writes nothing.
    """
    if session.weights.saved is None:
        return session
    left = {key: value for key, value in session.weights.tweaks.items() if saved.get(key) != value}
    back = left | {key: getattr(was, key) for key, value in saved.items() if getattr(was, key) != value}
    undo = (Moved(back, session.weights.k),) if back != left else ()
    now = session.weights.saved._replace(**saved)  # type: ignore[arg-type]
    weights = session.weights._replace(saved=now, plain=None, undo=undo, redo=(), tweaks=left)
    query = session.query._replace(generation=session.query.generation + 1)
    return session._replace(weights=weights, query=query)


def adopt_saved(session: Session, saved: Config) -> Session:
    """Take the settings of recall.toml, written by any program."""
    before = session.weights.saved
    if before is None or all(getattr(before, key) == getattr(saved, key) for key in KEYS):
        return session._replace(weights=session.weights._replace(saved=saved))
    left = {key: value for key, value in session.weights.tweaks.items() if getattr(saved, key) != value}
    fresh = session._replace(
        weights=session.weights._replace(saved=saved, plain=None, tweaks=left),
        query=session.query._replace(generation=session.query.generation + 1),
    )
    return _search_if_needed(session, fresh)


def _stop(stops: tuple[int, ...], now: int, steps: int) -> int:
    """Return the next stop above or below, or the last stop."""
    if steps > 0:
        return next(iter(stops[bisect_right(stops, now) :]), max(now, stops[-1]))
    return next(reversed(stops[: bisect_left(stops, now)]), min(now, stops[0]))


def _go_to(session: Session, place: Moved) -> Session:
    """Return the session at a step of undo or redo. A text or filter changed since then stays."""
    fresh = _apply_moves(session, place)
    if place.asked is None:
        return fresh
    now = session.query.text, session.query.filter
    text, filters = (was if is_ == became else is_ for is_, was, became in zip(now, *place.asked, strict=True))
    return (
        fresh
        if (text, filters) == now
        else ask(fresh._replace(query=fresh.query._replace(filter=filters)), text, session.query.asked_at)
    )


def _way_back(session: Session, place: Moved) -> Moved:
    """Return the step that leads back to the current session."""
    came_with = None if place.asked is None else QuestionChange(place.asked.after, place.asked.before)
    return Moved(session.weights.tweaks, session.weights.k, came_with)


def _record_change(
    session: Session, moved: Moved, *, joins: bool = False, question: QuestionChange | None = None
) -> Session:
    """Return the session with these changes, an undo step, and no redo steps."""
    before = Moved(session.weights.tweaks, session.weights.k, question)
    undo = session.weights.undo if joins and session.weights.undo else (*session.weights.undo, before)[-UNDO_MOST:]
    fresh = _apply_moves(session, moved)
    return fresh._replace(weights=fresh.weights._replace(undo=undo, redo=()))


def _apply_moves(session: Session, moved: Moved) -> Session:
    return _search_if_needed(
        session,
        session._replace(
            weights=session.weights._replace(tweaks=moved.tweaks, k=moved.k),
            query=session.query._replace(generation=session.query.generation + 1),
        ),
    )


def _search_if_needed(session: Session, fresh: Session) -> Session:
    """Return the session with other settings, and search again if these change the candidates."""
    if not session.query.text.strip() or retrieval(current(fresh)) == retrieval(current(session)):
        return fresh
    return fresh._replace(query=fresh.query._replace(question=session.query.question + 1, busy=True))


def differences(config: Config, plain: Config | None) -> Tweaks:
    """Return the settings of the pane that differ from the plain ones, in the order of KEYS."""
    if plain is None:
        return {}
    return {key: getattr(config, key) for key in KEYS if getattr(config, key) != getattr(plain, key)}


def chart_to_scale(session: Session) -> Chart | None:
    """Return the chart, unless the settings have another scale."""
    config, chart = current(session), session.weights.chart
    scale = (config.fusion, config.normalize, config.rrf_k)
    return chart if chart and (chart.fusion, chart.normalize, chart.rrf_k) == scale else None


def is_hybrid(answer: Answer | None) -> bool:
    """Return True if two signals share the score, so that weights matter."""
    return answer is not None and answer.pool is not None and bool(answer.pool.lexical and answer.pool.semantic)


def why_not(answer: Answer | None) -> str:
    """Return why there are no weights to tune, in the width of the pane, or ""."""
    if is_hybrid(answer):
        return ""
    if answer is None:
        return "Run a search to tune its weights."
    if answer.pool is None:
        return "The query has no signal to weigh."
    if answer.pool.lexical or answer.pool.semantic:
        only = "lexical" if answer.pool.lexical else "semantic"
        return f"Only the {only} signal ranks this query."
    return "No candidate was found."


def why_no_lines(answer: Answer) -> str:
    """Return why ranks cannot be drawn over the weights, or "". Only fusion is linear in the weight."""
    if answer.plan.table == "doc":
        return "No rank lines: rows are documents, and a document's best chunk changes with the weight."
    if answer.plan.order:
        return "No rank lines: ORDER BY sets the order."
    if answer.plan.config.rerank:
        return "No rank lines: the reranker sets the order of the first rows."
    return ""


WEIGHT = "weight"
"""The row of the semantic share, which is two settings that add up to 1."""
TOP_K = "k"
"""The row of the number of rows, which belongs to the question."""
COARSE = 5  # hundredths of a normal step
SETTING_CURSOR = "setting"


def setting_rows(session: Session) -> tuple[str, ...]:
    """Return the rows by key.

    A single signal has no weight or fusion. rrf has rrf_k, other fusions have normalize.
    """
    fused = () if why_not(session.results.answer) else (WEIGHT, "fusion")
    scaled = "rrf_k" if current(session).fusion == "rrf" else "normalize"
    return (*fused, scaled, "min_score", "sparse_recall", "match", "lexical_model", TOP_K, "pool")


def chosen_setting(session: Session) -> str:
    """Return the row that Left and Right change."""
    known = setting_rows(session)
    return known[min(session.cursors.get(SETTING_CURSOR, 0), len(known) - 1)]


def step_setting(session: Session, steps: int) -> Session:
    """Return the session with the row `steps` rows further down chosen."""
    return choose_setting(session, setting_rows(session).index(chosen_setting(session)) + steps)


def choose_setting(session: Session, row: int) -> Session:
    """Return the session with this row chosen, or the nearest."""
    return move_cursor(session, SETTING_CURSOR, row, len(setting_rows(session)))


def change_setting(session: Session, hundredths: int) -> Session:
    """Change the chosen row by hundredths, or to the next stop or choice."""
    key, step = chosen_setting(session), 1 if hundredths > 0 else -1
    if key == WEIGHT:
        return nudge_share(session, hundredths)
    if key == "min_score":
        return raise_min_score(session, hundredths)
    if key == TOP_K:
        return step_k(session, step)
    if key in ("pool", "rrf_k"):
        return step_number(session, key, step)
    return turn_choice(session, key, step)


MOST_KEPT = 10  # rows of an answer in the history


def to_keep(session: Session) -> PastQuestion | None:
    """Return the question to add to the history, or None.

    Settings changed after an answer count once the question is asked again.
    """
    answer = session.results.answer
    if not session.query.is_settled or session.query.busy or session.query.trouble is not None or answer is None:
        return None
    if session.query.question == session.query.kept_at or session.query.text != answer.plan.text:
        return None
    rows = []
    for hit in (session.results.hits[row] for row in range(MOST_KEPT) if row in session.results.hits):
        chunk = hit.chunk
        place = cite(hit.doc.path, chunk.line_start, chunk.line_end, chunk.place) if chunk else hit.doc.path
        rows.append(KeptRow(chunk.id if chunk else hit.doc.id, place))
    digest = session.store.info.digest if session.store.info else ""
    past = question_of(session, session.query.text)._replace(
        filter=filter_of(answer.plan) or "", digest=digest, top=tuple(rows), offset=list_range(answer)[0]
    )
    return past if past[:3] != session.query.kept[:3] else None


def question_of(session: Session, text: str) -> PastQuestion:
    """Return the question, answered or not, with its filter and changed settings. text: of the field."""
    k = () if session.weights.k is None else (f"k={session.weights.k}",)
    return PastQuestion(text, session.query.filter, (*assignments(session.weights.tweaks), *k))


def moved_by(past: PastQuestion) -> tuple[Moved, tuple[str, ...]]:
    """Return the changes of a past question, and its settings that cannot be changed here."""
    moved, unknown = Moved(), []
    for setting in past.settings:
        key, _, value = setting.partition("=")
        try:
            config = override(Config(), [setting]) if key in KEYS else None
        except RecallError:
            config = None
        if key == "k" and value.isdecimal() and int(value) > 0:
            moved = moved._replace(k=int(value))
        elif config is not None:
            moved = moved._replace(tweaks={**moved.tweaks, key: getattr(config, key)})
        else:
            unknown.append(setting)
    return moved, tuple(unknown)
