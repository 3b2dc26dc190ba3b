"""Requests that are tried again."""

import random
import time

TRIES = 5
FIRST_WAIT_S = 0.2


def wait_s(attempt: int) -> float:
    """Seconds to wait before this attempt: twice as long each time, and up to a half of it at random."""
    wait = FIRST_WAIT_S * 2**attempt
    return wait + random.uniform(0, wait / 2)


def send(request, transport):
    """The response, after at most five attempts; the last failure is raised."""
    for attempt in range(TRIES):
        response = transport(request)
        if response.status not in (429, 503):
            return response
        time.sleep(wait_s(attempt))
    raise ConnectionError(f"no answer after {TRIES} attempts")
