"""What the waits may be."""

from client import FIRST_WAIT_S, wait_s


def test_the_first_wait_is_the_shortest() -> None:
    assert FIRST_WAIT_S <= wait_s(0) <= 1.5 * FIRST_WAIT_S
