"""Requests to a model server: JSON over HTTP, two at a time, with retries for a busy server."""

from __future__ import annotations

import json
import os
import socket
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from recall_core._lazy import httpx
from recall_core.deadline import check, seconds_left
from recall_core.errors import ConfigError, EmbedError, Interrupted, TimedOut
from recall_core.shell import REST, Hint, install_extra

if TYPE_CHECKING:
    import httpx

    Outcomes = SimpleQueue[tuple[int, object]]

CONCURRENCY = 2
BACKOFF_SECONDS = (1.0, 2.0, 4.0)
"""Pauses between tries of one request, which allows four tries."""
LONGEST_WAIT_SECONDS = 60.0
"""Longest wait that a server may ask for; a longer one fails at once."""
TIMEOUT_SECONDS = 60.0
LOOK_SECONDS = 0.05
"""Longest time until an interrupt is noticed during a request."""
_QUOTED_CHARS = 200
_SHORTEST_SECRET = 6  # consecutive characters of a key that are redacted


class ApiKey:
    """A secret from the environment that never prints itself."""

    __slots__ = ("_text", "variable")

    def __init__(self, variable: str, text: str) -> None:
        self.variable = variable
        self._text = text

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def reveal(self) -> str:
        """Return the secret. Raises EmbedError `provider_unauthorized` if it cannot be sent in a header."""
        if not (self._text.isascii() and self._text.isprintable()) or " " in self._text:
            message = f"{self.variable} contains characters that are not valid in a key."
            raise EmbedError("provider_unauthorized", message, hint=f"export {self.variable}=…")
        return self._text

    def redact(self, text: str) -> str:
        """Return the text with the key masked, whole or in part."""
        size = min(_SHORTEST_SECRET, len(self._text))
        starts = [i for i in range(len(text) - size + 1) if text[i : i + size] in self._text]
        hidden = {i for start in starts for i in range(start, start + size)}
        return "".join("*" if i in hidden else character for i, character in enumerate(text))


class _Failure(NamedTuple):
    """A failed try. is_passing: another try may succeed. wait_seconds: wait that the server asks for."""

    error: EmbedError
    cause: Exception | None = None
    is_passing: bool = False
    wait_seconds: float = 0.0


def key_of(variables: Sequence[str]) -> ApiKey | None:
    """Return the key from the first of these environment variables that is set and not blank."""
    found = ((variable, os.environ.get(variable, "").strip()) for variable in variables)
    return next((ApiKey(variable, text) for variable, text in found if text), None)


def is_loopback(url: str) -> bool:
    """Return True for an address on this machine: localhost, 127.0.0.0/8 or ::1. False if it cannot be parsed."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def server_of(url: str) -> str:
    """Return host and port of an address, the part that may be printed."""
    return urlsplit(url).netloc.rpartition("@")[2]


class Wire:
    """Posts JSON to one server.

    url: address below which all paths are.
    headers: makes headers from the key.
    pause: called with seconds instead of waiting.
    Raises ConfigError `bad_value` for an unusable address; EmbedError `insecure_url` for a key sent unencrypted to
    another machine, `embedder_unavailable` without httpx.
    """

    def __init__(
        self,
        provider: str,
        url: str,
        *,
        key: ApiKey | None = None,
        headers: Callable[[str], dict[str, str]] = lambda key: {"Authorization": f"Bearer {key}"},
        timeout_seconds: float = TIMEOUT_SECONDS,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._provider = provider
        self._url = _check_url(url, key)
        self._key = key
        self._pause = pause
        self._client = _client(self._url, headers(key.reveal()) if key else {}, timeout_seconds)
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = Lock()
        # Embedders have no close method, so the connections close with the object.
        weakref.finalize(self, self._client.close)

    def post(self, path: str, bodies: Sequence[object], interrupted: Event) -> list[object]:
        """Return the decoded answers to these bodies, in order.

        Retries after 429, 5xx, a timeout or a broken connection. Ends all pending requests if it raises.

        interrupted: set by another thread; this call, or else the next, clears it and raises Interrupted.
        Raises EmbedError `provider_rate_limited`, `provider_timeout`, `provider_failed`, `provider_unauthorized`,
        `provider_invalid_response` if the answer is not JSON, `embedder_unavailable` if the server cannot be reached.
        Raises TimedOut.
        """
        waiting: Outcomes = SimpleQueue()
        for place, body in enumerate(bodies):
            waiting.put((place, body))
        stopped, outcomes, answers = Event(), SimpleQueue[tuple[int, object]](), dict[int, object]()
        try:
            _look(interrupted)
            for _ in bodies[:CONCURRENCY]:
                # The program would wait for a pool's threads when it ends.
                work = (path, waiting, outcomes, stopped)
                Thread(target=self._work, args=work, name="recall-embed", daemon=True).start()
            while len(answers) < len(bodies):
                # Report a failure at once: an earlier request may still wait for a busy server.
                place, answer = self._next(outcomes, interrupted)
                if isinstance(answer, BaseException):
                    raise answer
                answers[place] = answer
            return [answers[place] for place in range(len(bodies))]
        finally:
            stopped.set()
            if len(answers) < len(bodies):
                self._hang_up()

    def _next(self, outcomes: Outcomes, interrupted: Event) -> tuple[int, object]:
        """Return the next finished request: its answer or its error. Raises Interrupted, TimedOut."""
        while True:
            _look(interrupted)
            try:
                check()
            except TimedOut as error:
                message = f"{error.message} {self._provider} at {server_of(self._url)} has not answered."
                raise TimedOut(error.code, message, hint=Hint("search", REST, mode="lexical")) from error
            with suppress(Empty):
                return outcomes.get(timeout=min(LOOK_SECONDS, seconds_left()))

    def invalid(self, reason: str) -> EmbedError:
        """Return the error for an invalid answer."""
        return self._error("provider_invalid_response", f"sent an invalid answer: {reason}")

    def _work(self, path: str, waiting: Outcomes, outcomes: Outcomes, stopped: Event) -> None:
        """Send one body after another until none is left or the call has ended."""
        while not stopped.is_set():
            try:
                place, body = waiting.get_nowait()
            except Empty:
                return
            try:
                outcomes.put((place, self._answer(path, body, stopped)))
            except BaseException as error:  # noqa: BLE001 - raised again in `post`
                outcomes.put((place, error))

    def _hang_up(self) -> None:
        """End pending requests: the threads that read from the connections get an error."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with suppress(OSError):  # the connection has ended already
                # Shut down the socket only: its TLS layer belongs to another thread.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def _follow(self, event: str, about: Mapping[str, Any]) -> None:
        """Record connections that the client opens, so that `_hang_up` can end them."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._lock:
                self._streams.add(about["return_value"])

    def _answer(self, path: str, body: object, stopped: Event) -> object:
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        outcome = self._attempt(path, content)
        for seconds in BACKOFF_SECONDS:
            if not isinstance(outcome, _Failure) or not outcome.is_passing:
                break
            if outcome.wait_seconds > LONGEST_WAIT_SECONDS or stopped.is_set():
                break
            (self._pause or stopped.wait)(max(seconds, outcome.wait_seconds))
            if not stopped.is_set():
                outcome = self._attempt(path, content)
        if isinstance(outcome, _Failure):
            raise outcome.error from outcome.cause
        return outcome

    def _attempt(self, path: str, content: bytes) -> object:
        """Return the decoded answer, or a _Failure."""
        try:
            hooks = {"trace": self._follow}
            response = self._client.post(self._url + path, content=content, extensions=hooks)
            if not response.is_success:
                return self._refusal(response)
            decoded: object = json.loads(response.content)
        except httpx.RequestError as error:
            return self._explain_silence(error)
        except (ValueError, RecursionError) as error:
            return _Failure(self.invalid("it is not JSON"), error)
        return decoded

    def _explain_silence(self, error: httpx.RequestError) -> _Failure:
        if isinstance(error, httpx.TimeoutException):
            return _Failure(self._error("provider_timeout", "did not answer in time"), error, is_passing=True)
        if isinstance(error, httpx.DecodingError):
            return _Failure(self.invalid("it cannot be decompressed"), error)
        reason = self._quote(str(error))
        if isinstance(error, httpx.ConnectError):
            return _Failure(self._error("embedder_unavailable", f"cannot be reached: {reason}"), error)
        is_passing = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
        return _Failure(
            self._error("provider_failed", f"lost the connection: {reason}"), error, is_passing=is_passing
        )

    def _refusal(self, response: httpx.Response) -> _Failure:
        status = response.status_code
        # Google reports a wrong key as a bad request.
        if status in (401, 403) or (status == 400 and b"API_KEY_INVALID" in response.content):
            return _Failure(self._explain_refusal())
        reason = f"answered {status}: {self._quote(_message(response))}"
        code = "provider_rate_limited" if status == 429 else "provider_failed"
        is_passing = status == 429 or status >= 500
        return _Failure(self._error(code, reason), is_passing=is_passing, wait_seconds=_retry_after(response))

    def _explain_refusal(self) -> EmbedError:
        where = f"{self._provider} at {server_of(self._url)}"
        if self._key is None:
            message = f"{where} requires a key, and this embedder sends none."
            return EmbedError("provider_unauthorized", message, hint=Hint("init", embedding="openai"))
        message = f"{where} rejects the key in {self._key.variable}."
        return EmbedError("provider_unauthorized", message, hint=f"export {self._key.variable}=…")

    def _error(self, code: str, what: str) -> EmbedError:
        message = f"{self._provider} at {server_of(self._url)} {what}."
        return EmbedError(code, message, hint=Hint("search", REST, mode="lexical"))

    def _quote(self, text: str) -> str:
        """Make foreign text fit for a message: one line, short, without escape codes and the key."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
        line = self._key.redact(line) if self._key else line
        return line.rstrip(".") if len(line) <= _QUOTED_CHARS else f"{line[:_QUOTED_CHARS]}…"


def _look(interrupted: Event) -> None:
    if interrupted.is_set():
        interrupted.clear()
        raise Interrupted("interrupted", "The request to the embedder was interrupted.", hint="run it again")


def _check_url(url: str, key: ApiKey | None) -> str:
    """Return the address without a trailing slash, after checking that it may be used."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or "@" in url or "?" in url or "#" in url or "\\" in url:
        # The address may contain a password, so it is not printed.
        message = "embedding_url takes http:// or https://, a host and a path, without user, password or query."
        raise ConfigError("bad_value", message, hint='embedding_url = "http://127.0.0.1:11434/v1"')
    if parts.scheme == "http" and key is not None and not is_loopback(url):
        message = f"The key in {key.variable} would be sent unencrypted to {server_of(url)}."
        raise EmbedError("insecure_url", message, hint=f'embedding_url = "https://{server_of(url)}{parts.path}"')
    return url.rstrip("/")


def _client(url: str, headers: dict[str, str], timeout_seconds: float) -> httpx.Client:
    try:
        same_host = httpx.URL(url).host == urlsplit(url).hostname
    except ImportError as error:
        raise EmbedError(
            "embedder_unavailable", "The httpx package is not installed.", hint=install_extra("providers")
        ) from error
    except httpx.InvalidURL:
        same_host = False
    if not same_host:
        raise ConfigError(
            "bad_value", "embedding_url has an invalid host.", hint="use a plain host name or IP address"
        )
    # A proxy from the environment would receive text that must stay on this machine.
    return httpx.Client(
        headers={"Content-Type": "application/json", **headers},
        timeout=timeout_seconds,
        trust_env=not is_loopback(url),
        verify=urlsplit(url).scheme != "http",  # reading certificates takes 20 ms, not needed for http://
    )


def _message(response: httpx.Response) -> str:
    """Return the server's own message: `error.message`, `error` or the body."""
    try:
        decoded: object = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text
    error = decoded.get("error") if isinstance(decoded, dict) else None
    inner = error.get("message") if isinstance(error, dict) else error
    return inner if isinstance(inner, str) else response.text


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds to wait from Retry-After, a number or a date relative to Date; 0 if unreadable."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        server_time = parsedate_to_datetime(response.headers.get("Date", ""))
        return max(0.0, (parsedate_to_datetime(value) - server_time).total_seconds())
    except (ValueError, TypeError):
        return 0.0
