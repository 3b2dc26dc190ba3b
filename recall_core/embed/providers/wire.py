"""The one place that talks to a model server: JSON over HTTP, two requests at a time, patient with a busy server."""

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
"""The pauses between tries of one request, so there are four tries at most."""
LONGEST_WAIT_SECONDS = 60.0
"""A server that asks for more patience than this is not waited for."""
TIMEOUT_SECONDS = 60.0
LOOK_SECONDS = 0.05
"""How long an interrupt may go unnoticed while a server is waited for."""
_QUOTED_CHARS = 200
_SHORTEST_SECRET = 6  # characters of a key that may not be quoted in a row


class ApiKey:
    """A secret from the environment that never shows itself."""

    __slots__ = ("_text", "variable")

    def __init__(self, variable: str, text: str) -> None:
        self.variable = variable
        self._text = text

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def reveal(self) -> str:
        """The secret itself. Raises EmbedError `provider_unauthorized` where it cannot stand in a header."""
        if not (self._text.isascii() and self._text.isprintable()) or " " in self._text:
            message = f"{self.variable} holds characters that no key has."
            raise EmbedError("provider_unauthorized", message, hint=f"export {self.variable}=…")
        return self._text

    def redact(self, text: str) -> str:
        """The text without the key, whole or in part."""
        size = min(_SHORTEST_SECRET, len(self._text))
        starts = [i for i in range(len(text) - size + 1) if text[i : i + size] in self._text]
        hidden = {i for start in starts for i in range(start, start + size)}
        return "".join("*" if i in hidden else character for i, character in enumerate(text))


class _Failure(NamedTuple):
    """A try that gave no answer. is_passing: another try may fare better. wait_seconds: what the server asks for."""

    error: EmbedError
    cause: Exception | None = None
    is_passing: bool = False
    wait_seconds: float = 0.0


def key_of(variables: Sequence[str]) -> ApiKey | None:
    """The key in the first of these environment variables that is set and not blank."""
    found = ((variable, os.environ.get(variable, "").strip()) for variable in variables)
    return next((ApiKey(variable, text) for variable, text in found if text), None)


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own: localhost, 127.0.0.0/8 or ::1. An unreadable one is not."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def server_of(url: str) -> str:
    """Host and port of an address: what may be shown of it."""
    return urlsplit(url).netloc.rpartition("@")[2]


class Wire:
    """Posts JSON to one server.

    url: the address below which all paths lie.  headers: made from the key.  pause: called with seconds instead
    of waiting.  Raises ConfigError `bad_value` for an address that cannot be used, EmbedError `insecure_url` for
    a key on an unencrypted way off this machine, `embedder_unavailable` without httpx.
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
        # There is no verb for closing an embedder: its connections go when it does.
        weakref.finalize(self, self._client.close)

    def post(self, path: str, bodies: Sequence[object], interrupted: Event) -> list[object]:
        """The decoded answers to these bodies, in order.

        interrupted: once another thread has set it, this call or else the next clears it and raises Interrupted.

        Tries again after 429, 5xx, a timeout or a broken connection. Raises EmbedError: `provider_rate_limited`,
        `provider_timeout`, `provider_failed`, `provider_unauthorized`, `provider_invalid_response` where the
        answer is not JSON, `embedder_unavailable` where nobody listens. Raises TimedOut: then, as whenever not every
        answer is wanted any more, the requests under way end.
        """
        waiting: Outcomes = SimpleQueue()
        for place, body in enumerate(bodies):
            waiting.put((place, body))
        stopped, outcomes, answers = Event(), SimpleQueue[tuple[int, object]](), dict[int, object]()
        try:
            _look(interrupted)
            for _ in bodies[:CONCURRENCY]:
                # A thread of a pool would be waited for at the end of the program.
                work = (path, waiting, outcomes, stopped)
                Thread(target=self._work, args=work, name="recall-embed", daemon=True).start()
            while len(answers) < len(bodies):
                # One that has failed is told at once: an earlier one may still be waiting for a busy server.
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
        """What came next of a request: its answer, or what it failed by. Raises Interrupted, TimedOut."""
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
        """The error for an answer that is no set of vectors."""
        return self._error("provider_invalid_response", f"sent an answer that cannot be used: {reason}")

    def _work(self, path: str, waiting: Outcomes, outcomes: Outcomes, stopped: Event) -> None:
        """Ask for one body after the other, until there are no more or nobody wants their answers."""
        while not stopped.is_set():
            try:
                place, body = waiting.get_nowait()
            except Empty:
                return
            try:
                outcomes.put((place, self._answer(path, body, stopped)))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the answer raises it
                outcomes.put((place, error))

    def _hang_up(self) -> None:
        """End the requests under way: whoever reads from a connection learns that it is over."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with suppress(OSError):  # it is over already
                # Only of the socket: the encryption on it is another thread's.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def _follow(self, event: str, about: Mapping[str, Any]) -> None:
        """The client tells what it does; what it has connected can be hung up."""
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
        """The decoded answer, or a _Failure."""
        try:
            told = {"trace": self._follow}
            response = self._client.post(self._url + path, content=content, extensions=told)
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
            return _Failure(self.invalid("it cannot be unpacked"), error)
        said = self._quote(str(error))
        if isinstance(error, httpx.ConnectError):
            return _Failure(self._error("embedder_unavailable", f"cannot be reached: {said}"), error)
        is_passing = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
        return _Failure(self._error("provider_failed", f"broke off: {said}"), error, is_passing=is_passing)

    def _refusal(self, response: httpx.Response) -> _Failure:
        status = response.status_code
        # Google calls a wrong key a bad request.
        if status in (401, 403) or (status == 400 and b"API_KEY_INVALID" in response.content):
            return _Failure(self._explain_refusal())
        said = f"answered {status}: {self._quote(_message(response))}"
        code = "provider_rate_limited" if status == 429 else "provider_failed"
        is_passing = status == 429 or status >= 500
        return _Failure(self._error(code, said), is_passing=is_passing, wait_seconds=_retry_after(response))

    def _explain_refusal(self) -> EmbedError:
        where = f"{self._provider} at {server_of(self._url)}"
        if self._key is None:
            message = f"{where} wants a key, and this embedder sends none."
            return EmbedError("provider_unauthorized", message, hint=Hint("init", embedding="openai"))
        message = f"{where} does not accept the key in {self._key.variable}."
        return EmbedError("provider_unauthorized", message, hint=f"export {self._key.variable}=…")

    def _error(self, code: str, what: str) -> EmbedError:
        message = f"{self._provider} at {server_of(self._url)} {what}."
        return EmbedError(code, message, hint=Hint("search", REST, mode="lexical"))

    def _quote(self, text: str) -> str:
        """What somebody else wrote, fit for a message: one line, short, without escape codes and without the key."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
        line = self._key.redact(line) if self._key else line
        return line.rstrip(".") if len(line) <= _QUOTED_CHARS else f"{line[:_QUOTED_CHARS]}…"


def _look(interrupted: Event) -> None:
    if interrupted.is_set():
        interrupted.clear()
        raise Interrupted("interrupted", "The request to the embedder was interrupted.", hint="run it again")


def _check_url(url: str, key: ApiKey | None) -> str:
    """The address without a slash at its end, if it can and may be used."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or "@" in url or "?" in url or "#" in url or "\\" in url:
        # The address may hold a password, so it is not shown.
        message = "embedding_url takes http:// or https://, a host and a path, without user, password or query."
        raise ConfigError("bad_value", message, hint='embedding_url = "http://127.0.0.1:11434/v1"')
    if parts.scheme == "http" and key is not None and not is_loopback(url):
        message = f"The key in {key.variable} would travel unencrypted to {server_of(url)}."
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
        raise ConfigError("bad_value", "embedding_url has an unusual host.", hint="write its plain name or number")
    # A proxy from the environment would carry off text that is promised to stay on this machine.
    return httpx.Client(
        headers={"Content-Type": "application/json", **headers},
        timeout=timeout_seconds,
        trust_env=not is_loopback(url),
        verify=urlsplit(url).scheme != "http",  # reading the certificates takes 20 ms that http:// need not pay
    )


def _message(response: httpx.Response) -> str:
    """The server's own words: `error.message`, `error` or the body."""
    try:
        decoded: object = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text
    error = decoded.get("error") if isinstance(decoded, dict) else None
    inner = error.get("message") if isinstance(error, dict) else error
    return inner if isinstance(inner, str) else response.text


def _retry_after(response: httpx.Response) -> float:
    """Seconds that the server asks to wait, from a number or a date beside its own; 0 without a readable one."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    asked = response.headers.get("Retry-After", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        there = parsedate_to_datetime(response.headers.get("Date", ""))
        return max(0.0, (parsedate_to_datetime(asked) - there).total_seconds())
    except (ValueError, TypeError):
        return 0.0
