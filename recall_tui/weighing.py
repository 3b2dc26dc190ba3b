"""The weights a person moves: what they stand at, and the session after each change. Pure, and without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core.config import SETTINGS, Config
from recall_tui.session import Session, Tweaks

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_tui.chart import Chart

KEYS = ("bm25_weight", "vector_weight", "fusion", "normalize", "min_score", "sparse_recall")
"""The settings that the weights pane moves, in the order in which they are written."""

UNDO_MOST = 200


def current(session: Session) -> Config:
    """The settings that the pane shows: what the question has without tweaks, and the tweaks it leaves free."""
    start = session.plain or session.saved or Config()
    return start._replace(**{key: value for key, value in session.tweaks.items() if key not in session.fixed})  # type: ignore[arg-type]


def share(config: Config) -> float:
    """The semantic share of the weights, 0 to 1; two weights of 0 count as equal ones."""
    total = config.bm25_weight + config.vector_weight
    return config.vector_weight / total if total > 0 else 0.5


def weighted(session: Session, semantic: float, *, joins: bool = False) -> Session:
    """The session with this semantic share, in hundredths, and the rest for the words.

    joins: the change goes on with the one before, as a drag does, so that both are undone in one step.
    """
    semantic = round(min(1.0, max(0.0, semantic)), 2)
    return tweaked(session, {"bm25_weight": round(1 - semantic, 2), "vector_weight": semantic}, joins=joins)


def nudged(session: Session, hundredths: int) -> Session:
    """The session with the semantic share that much higher."""
    return weighted(session, share(current(session)) + hundredths / 100)


def turned(session: Session, key: str) -> Session:
    """The session with the next of a setting's choices, round the end; a switch has two."""
    now = getattr(current(session), key)
    if isinstance(now, bool):
        return tweaked(session, {key: not now})
    choices = SETTINGS[key].choices
    return tweaked(session, {key: choices[(choices.index(now) + 1) % len(choices)]})


def raised(session: Session, hundredths: int) -> Session:
    """The session with the lowest score of a hit that much higher, 0 to 1."""
    return tweaked(
        session, {"min_score": round(min(1.0, max(0.0, current(session).min_score + hundredths / 100)), 2)}
    )


def tweaked(session: Session, changes: Tweaks, *, joins: bool = False) -> Session:
    """The session with these settings moved; the same session when that changes nothing.

    A setting that is back where the question has it without tweaks is no tweak any more.
    """
    if all(getattr(current(session), key) == value or key in session.fixed for key, value in changes.items()):
        return session
    start = session.plain or session.saved or Config()
    moved = {**session.tweaks, **changes}
    kept = {key: moved[key] for key in KEYS if key in moved and moved[key] != getattr(start, key)}
    undo = session.undo if joins and session.undo else (*session.undo, session.tweaks)[-UNDO_MOST:]
    return _moved(session, kept)._replace(undo=undo)


def reset(session: Session) -> Session:
    """The session under the saved settings; an undo brings the tweaks back."""
    return _moved(session, {})._replace(undo=(*session.undo, session.tweaks)) if session.tweaks else session


def undone(session: Session) -> Session:
    """The session before the newest change."""
    if not session.undo:
        return session
    return _moved(session, session.undo[-1])._replace(undo=session.undo[:-1])


def stored(session: Session, saved: Tweaks) -> Session:
    """The session once these settings stand in recall.toml: what is left is moved away from them."""
    if session.saved is None:
        return session
    left = {key: value for key, value in session.tweaks.items() if saved.get(key) != value}
    return _moved(session, left)._replace(saved=session.saved._replace(**saved), plain=None, undo=())  # type: ignore[arg-type]


def _moved(session: Session, tweaks: Tweaks) -> Session:
    return session._replace(tweaks=tweaks, generation=session.generation + 1)


def differences(config: Config, plain: Config | None) -> Tweaks:
    """The settings of the pane that differ from the plain ones, in the order of KEYS."""
    if plain is None:
        return {}
    return {key: getattr(config, key) for key in KEYS if getattr(config, key) != getattr(plain, key)}


def drawn(session: Session) -> Chart | None:
    """The chart, unless it is on another scale than the settings are by now."""
    config, chart = current(session), session.chart
    return chart if chart and (chart.fusion, chart.normalize) == (config.fusion, config.normalize) else None


def is_hybrid(answer: Answer | None) -> bool:
    """True when two signals share the score, so that there is something to weigh."""
    return answer is not None and answer.pool is not None and bool(answer.pool.lexical and answer.pool.semantic)


def why_not(answer: Answer | None) -> str:
    """Why there is nothing to weigh; "" when there is."""
    if is_hybrid(answer):
        return ""
    if answer is None:
        return "Ask something to weigh its signals."
    if answer.pool is None:
        return "The query names no signal, so its rows have no score."
    if answer.pool.lexical or answer.pool.semantic:
        only = "words" if answer.pool.lexical else "meaning"
        return f"Only {only} can rank this question."
    return "No candidate was found."


def why_no_lines(answer: Answer) -> str:
    """Why ranks cannot be drawn over the weights; "" when they can: only fusion alone is a straight line."""
    if answer.plan.table == "doc":
        return "No rank lines: rows are documents, and a document's best chunk changes with the weight."
    if answer.plan.order:
        return "No rank lines: ORDER BY decides the order."
    if answer.plan.config.rerank:
        return "No rank lines: the reranker decides the order of the first rows."
    return ""
