"""The weights that grant the pins of the question on the screen, exactly."""

from __future__ import annotations

from fractions import Fraction

from recall_tui.state.studies import Study
from recall_tui.state.tuning import Granted, first_rows, pins_of
from recall_tui.state.weighing import current
from recall_tui.work.studying import Lab


def study(lab: Lab, _study: Study) -> Granted:
    """Every weight at which each pinned chunk stands among the first rows, or does not, as was wished."""
    from recall_core.explain.intervals import Interval  # noqa: PLC0415 - the engine loads behind the first frame
    from recall_core.explain.lines import lines_of  # noqa: PLC0415
    from recall_core.explain.pins import Pin, pin_weights, together  # noqa: PLC0415

    answer, store = lab.session.answer, lab.recall.store
    assert answer is not None and answer.pool is not None  # noqa: S101, PT018 - only ranked rows are pinned
    lines, k = lines_of(answer.pool, current(lab.session)), first_rows(lab.session)
    places = {key.rowid: position for position, key in enumerate(answer.pool.keys)}
    granted: dict[int, tuple[Interval, ...]] = {}
    for number, pin in enumerate(pins_of(lab.session)):
        lab.checkpoint()
        is_known = ("chunk", pin.chunk_id) in store.resolve(pin.chunk_id)
        position = places.get(store.rowid("chunk", pin.chunk_id)) if is_known else None
        if position is not None:
            granted[number] = pin_weights(lines, Pin(pin.want, position), k)
        else:  # who is no candidate is never among the rows
            granted[number] = () if pin.want == "in" else (Interval(Fraction(0), Fraction(1)),)
    return Granted(*together(granted))
