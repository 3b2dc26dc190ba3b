"""Embedders behind a server: order, batches, retries, broken answers, secret keys, and permission to send text."""

from __future__ import annotations

import gc
import importlib.util
import json
import logging
import math
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed.providers.openai import GEMINI, LLAMACPP, OLLAMA, OPENAI
from recall_core.embed.providers.remote import RemoteEmbedder, RemoteKind, cut
from recall_core.embed.providers.sentence import SENTENCE
from recall_core.embed.providers.wire import BACKOFF_SECONDS, ApiKey, is_loopback
from recall_core.errors import ConfigError, EmbedError, Interrupted, RecallError
from recall_core.ports import Embedder, EmbedderKind
from recall_core.shell import INSTALL, Hint, install_extra
from recall_core.testing import DeterministicEmbedderConformance
from recall_core.text import counter
from recall_core.types import Root, Vector
from tests.provider_server import ProviderServer, Reply, provider_server

KEY = "sk-test-0123456789-abcdefghij-KLMNOPQRST"
KINDS: tuple[EmbedderKind, ...] = (OPENAI, OLLAMA, LLAMACPP, GEMINI, SENTENCE)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as running:
        yield running


def reset(server: ProviderServer) -> None:
    """Reset the server after the previous case."""
    server.replies.clear()
    server.seen.clear()
    server.most_at_once = 0


def config(server: ProviderServer, model: str = "some-model", **settings: Any) -> Config:
    return Config(embedding_url=server.url, embedding_model=model, **settings)


def embedder(
    server: ProviderServer,
    kind: RemoteKind = OPENAI,
    *,
    pauses: list[float] | None = None,
    timeout_seconds: float = 5.0,
    dimension: int | None = 8,
) -> RemoteEmbedder:
    pause = (pauses if pauses is not None else []).append
    return kind.new(config(server), dimension=dimension, timeout_seconds=timeout_seconds, pause=pause)


def components(vector: Vector) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))


def unit(values: list[float]) -> list[float]:
    length = math.hypot(*values)
    return [value / length for value in values]


def failure_of(embedder: Embedder, text: str = "a text") -> EmbedError:
    with pytest.raises(EmbedError) as caught:
        embedder.embed([text])
    return caught.value


def visible_text(error: BaseException) -> str:
    """Return everything in an error that could reach a screen or a log."""
    details = (error.message, error.hint, error.details) if isinstance(error, RecallError) else ()
    return "".join(traceback.format_exception(error)) + repr(error) + repr(details)


class TestServerEmbedders(DeterministicEmbedderConformance):
    @pytest.fixture(
        autouse=True, params=[OPENAI, pytest.param(GEMINI, marks=pytest.mark.slow)], ids=lambda kind: kind.name
    )
    def _here(self, request: pytest.FixtureRequest, server: ProviderServer) -> None:
        self.kind = request.param
        self.config = config(server)


def test_vectors_come_in_the_order_of_the_texts(server: ProviderServer) -> None:
    for kind in [OPENAI, OLLAMA, LLAMACPP, GEMINI]:
        texts = [f"text {i}" for i in range(300)]

        vectors = embedder(server, kind).embed(texts)

        assert len(vectors) == 300, kind.name
        for text, vector in zip(texts, vectors, strict=True):
            assert components(vector) == pytest.approx(unit(server.vector(text)), abs=1e-6), kind.name


def test_texts_are_sent_in_full_batches_two_at_a_time(server: ProviderServer) -> None:
    for kind, most in [(OPENAI, 64), (OLLAMA, 16), (GEMINI, 100)]:
        reset(server)
        server.delay_seconds = 0.05
        texts = [f"text {i}" for i in range(4 * most + 1)]

        embedder(server, kind).embed(texts)

        assert sorted(map(len, server.texts())) == [1, most, most, most, most], kind.name
        assert server.most_at_once == 2, kind.name


def test_batch_is_limited_in_characters_too(server: ProviderServer) -> None:
    texts = [f"{i} {'word ' * 5_000}" for i in range(10)]

    embedder(server).embed(texts)

    assert all(sum(map(len, batch)) <= 100_000 for batch in server.texts())
    assert sorted(text for batch in server.texts() for text in batch) == sorted(texts)


def test_empty_text_has_no_vector_and_is_not_sent(server: ProviderServer) -> None:
    vectors = embedder(server).embed(["", "one", " \n\t", "two"])

    assert [len(vector) for vector in vectors] == [0, 32, 0, 32]
    assert server.texts() == [["one", "two"]]


def test_empty_input_sends_nothing(server: ProviderServer) -> None:
    for texts in [[], [""], ["", "  "]]:
        assert embedder(server).embed(texts) == [b""] * len(texts), texts
        assert server.seen == [], texts


def test_openai_embeddings_endpoint_is_asked_for_floats(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")

    embedder(server).embed(["one"])

    (seen,) = server.seen
    assert seen.path == "/v1/embeddings"
    assert seen.body == {"model": "some-model", "input": ["one"], "encoding_format": "float"}
    assert seen.headers["authorization"] == f"Bearer {KEY}"


def test_local_server_receives_no_key(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in [OLLAMA, LLAMACPP]:
        reset(server)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)

        embedder(server, kind).embed(["one"])

        assert "authorization" not in server.seen[0].headers, kind.name


def test_gemini_receives_the_task_type(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for is_query, task in [(True, "RETRIEVAL_QUERY"), (False, "RETRIEVAL_DOCUMENT")]:
        reset(server)
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)

        embedder(server, GEMINI).embed(["one"], is_query=is_query)

        (seen,) = server.seen
        assert seen.path == "/v1/models/some-model:batchEmbedContents", task
        assert seen.headers["x-goog-api-key"] == KEY, task
        assert seen.body["requests"] == [
            {"model": "models/some-model", "content": {"parts": [{"text": "one"}]}, "taskType": task}
        ], task


def test_tokens_used_add_up(server: ProviderServer) -> None:
    model = embedder(server)

    model.embed(["four", "sixsix"])
    model.embed(["two"])

    assert model.tokens_used == 13


def test_server_need_not_count_tokens(server: ProviderServer) -> None:
    for usage in [None, [], {}, {"total_tokens": None}]:
        server.edit = lambda answer, usage=usage: answer | {"usage": usage}
        model = embedder(server)

        model.embed(["one"])

        assert model.tokens_used == 0, usage


def test_vectors_without_an_index_keep_their_order(server: ProviderServer) -> None:
    server.edit = lambda answer: {"data": [{"embedding": entry["embedding"]} for entry in answer["data"][::-1]]}

    vectors = embedder(server).embed(["one", "two"])

    assert components(vectors[1]) == pytest.approx(unit(server.vector("two")), abs=1e-6)


def test_busy_server_is_retried_after_its_delay(server: ProviderServer) -> None:
    server.replies.append(Reply(429, headers=(("Retry-After", "7"),)))
    pauses: list[float] = []

    (vector,) = embedder(server, pauses=pauses).embed(["one"])

    assert vector
    assert pauses == [7.0]


def test_retry_after_date_counts_from_the_clock_of_the_server(server: ProviderServer) -> None:
    server.date = "Fri, 31 Dec 1999 23:59:30 GMT"
    server.replies.append(Reply(503, headers=(("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"),)))
    pauses: list[float] = []

    embedder(server, pauses=pauses).embed(["one"])

    assert pauses == [29.0]


def test_unreadable_retry_after_falls_back_to_backoff(server: ProviderServer) -> None:
    for asked in ["soon", "-1", "", "1e9", "²"]:
        reset(server)
        server.replies.append(Reply(429, headers=(("Retry-After", asked.encode().decode("latin-1")),)))
        pauses: list[float] = []

        embedder(server, pauses=pauses).embed(["one"])

        assert pauses == [BACKOFF_SECONDS[0]], asked


def test_excessive_retry_after_is_not_waited_for(server: ProviderServer) -> None:
    server.replies.append(Reply(429, headers=(("Retry-After", "3600"),)))
    pauses: list[float] = []

    error = failure_of(embedder(server, pauses=pauses))

    assert error.code == "provider_rate_limited"
    assert pauses == []


def test_temporary_failure_is_tried_four_times(server: ProviderServer) -> None:
    for reply, code in [
        (Reply(429), "provider_rate_limited"),
        (Reply(500, b'{"error": {"message": "the model is on fire"}}'), "provider_failed"),
        (Reply(503), "provider_failed"),
        (Reply(hangs_up=True), "provider_failed"),
        (Reply(delay_seconds=0.3), "provider_timeout"),
    ]:
        reset(server)
        server.replies.extend([reply] * 4)
        pauses: list[float] = []

        error = failure_of(embedder(server, pauses=pauses, timeout_seconds=0.1 if reply.delay_seconds else 5.0))

        assert (error.code, len(server.seen), pauses) == (code, 4, [1.0, 2.0, 4.0]), reply
        assert error.hint == "recall search --bm25 …", reply


def test_temporary_failure_leaves_no_trace(server: ProviderServer) -> None:
    for reply in [Reply(500), Reply(hangs_up=True), Reply(delay_seconds=0.3)]:
        reset(server)
        server.replies.extend([reply, reply])
        pauses: list[float] = []

        (vector,) = embedder(server, pauses=pauses, timeout_seconds=0.1 if reply.delay_seconds else 5.0).embed(
            ["one"]
        )

        assert components(vector) == pytest.approx(unit(server.vector("one")), abs=1e-6), reply
        assert len(pauses) == 2, reply


def test_other_refusals_quote_the_server(server: ProviderServer) -> None:
    for status in [302, 400, 404, 413, 422]:
        reset(server)
        server.replies.append(Reply(status, b'{"error": {"message": "no such\\u001b[31m model.\\nTry pulling it."}}'))

        error = failure_of(embedder(server))

        assert error.code == "provider_failed", status
        assert (
            error.message
            == f"OpenAI at 127.0.0.1:{server.port} answered {status}: no such [31m model. Try pulling it."
        ), status
        assert len(server.seen) == 1, status


def test_long_server_message_is_truncated(server: ProviderServer) -> None:
    server.replies.append(Reply(400, b"<html>" + b"much text " * 10_000))

    assert len(failure_of(embedder(server)).message) < 300


def _without_last(answer: Any) -> Any:
    return answer | {"data": answer["data"][:-1]}


def _with_component(value: Any) -> Any:
    return lambda answer: {"data": [entry | {"embedding": [value] * 8} for entry in answer["data"]]}


def test_answer_without_valid_vectors_is_refused(server: ProviderServer) -> None:
    for edit, reason in [
        (_without_last, "0 vectors for 1 texts"),
        (lambda answer: {"data": answer["data"] * 2}, "index does not number its vectors"),
        (lambda answer: {"data": [entry | {"index": "0"} for entry in answer["data"]]}, "index does not number"),
        (lambda answer: [answer], "data is not a list"),
        (lambda answer: {"data": {}}, "data is not a list"),
        (lambda answer: {"data": [1]}, "data is not a list"),
        (lambda answer: {"data": [{"index": 0}]}, "a vector is not a list"),
        (lambda answer: {"data": [{"index": 0, "embedding": "AAAA"}]}, "a vector is not a list"),
        (lambda answer: {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}, "2 components instead of 8"),
        (lambda answer: {"data": [{"index": 0, "embedding": []}]}, "0 components instead of 8"),
        (_with_component(math.nan), "NaN or infinite"),
        (_with_component(math.inf), "NaN or infinite"),
        (_with_component(10**400), "NaN or infinite"),
        (_with_component(0), "all zeros"),
        (_with_component(None), "not a number"),
        (_with_component("1.5"), "not a number"),
        (_with_component(True), "not a number"),
    ]:
        reset(server)
        server.edit = edit

        error = failure_of(embedder(server))

        assert error.code == "provider_invalid_response", reason
        assert reason in error.message, reason
        assert len(server.seen) == 1, reason


def test_answer_that_is_not_json_is_refused(server: ProviderServer) -> None:
    for body in [b'{"data": [{"index": 0, "embed', b"", b"\xff\xfe"]:
        reset(server)
        server.replies.append(Reply(body=body))

        error = failure_of(embedder(server))

        assert error.code == "provider_invalid_response", body
        assert "not JSON" in error.message, body


def test_deeply_nested_answer_is_refused(server: ProviderServer) -> None:
    server.replies.append(Reply(body=b"[" * 100_000))
    # At that depth, finalisers of another test's garbage have no room to run.
    gc.disable()
    try:
        error = failure_of(embedder(server))
    finally:
        gc.enable()

    assert error.code == "provider_invalid_response"


def test_answer_that_cannot_be_unpacked_is_refused(server: ProviderServer) -> None:
    server.replies.append(Reply(body=b"{}", headers=(("Content-Encoding", "gzip"),)))

    assert failure_of(embedder(server)).code == "provider_invalid_response"


def test_gemini_answers_are_checked_too(server: ProviderServer) -> None:
    for answer in [[], {"embeddings": None}, {"embeddings": [{}]}, {"embeddings": []}]:
        server.edit = lambda _, answer=answer: answer

        assert failure_of(embedder(server, GEMINI)).code == "provider_invalid_response", answer


def test_components_of_any_size_are_scaled_to_length_one(server: ProviderServer) -> None:
    for value in [1e300, 1e-300, 5e-324]:
        server.edit = _with_component(value)

        (vector,) = embedder(server).embed(["one"])

        assert components(vector) == pytest.approx([1 / math.sqrt(8)] * 8, abs=1e-6), value


def test_one_broken_batch_fails_the_whole_call(server: ProviderServer) -> None:
    server.replies.extend([Reply(400)] * 3)

    with pytest.raises(EmbedError, match="answered 400"):
        embedder(server).embed([f"text {i}" for i in range(300)])

    assert len(server.seen) < 5 + 3


def test_failure_ends_the_retries_of_concurrent_requests(server: ProviderServer) -> None:
    busy, broken = Reply(429, headers=(("Retry-After", "50"),)), Reply(400, delay_seconds=0.1)
    server.reply_to = lambda texts: busy if "text 0" in texts else broken
    model = OPENAI.new(config(server), dimension=8)
    started = time.monotonic()

    with pytest.raises(EmbedError, match="answered 400"):
        model.embed([f"text {i}" for i in range(128)])

    assert time.monotonic() - started < 20
    assert len(server.seen) == 2


@pytest.fixture
def silent(server: ProviderServer) -> Iterator[ProviderServer]:
    server.gate.clear()
    yield server
    server.gate.set()


def asking_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "recall-embed"]


def interrupt_when_asked(model: RemoteEmbedder, server: ProviderServer) -> threading.Thread:
    def interrupt() -> None:
        assert server.asked.wait(60)
        model.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    return thread


def test_interrupt_ends_a_call_to_a_silent_server(silent: ProviderServer) -> None:
    model = OPENAI.new(config(silent), dimension=8)
    interrupting = interrupt_when_asked(model, silent)

    with pytest.raises(Interrupted):
        model.embed(["a question"])

    interrupting.join()
    for thread in asking_threads():
        thread.join(10)
    assert asking_threads() == []
    silent.gate.set()
    assert len(model.embed(["a newer question"])[0]) == 4 * 8
    assert silent.texts() == [["a question"], ["a newer question"]]


def test_interrupt_ends_the_pause_before_a_retry(server: ProviderServer) -> None:
    server.replies.append(Reply(429, headers=(("Retry-After", "50"),)))
    model = OPENAI.new(config(server), dimension=8)
    interrupting = interrupt_when_asked(model, server)

    with pytest.raises(Interrupted):
        model.embed(["a question"])

    interrupting.join()
    for thread in asking_threads():
        thread.join(10)
    assert asking_threads() == []
    assert len(server.seen) == 1


def test_interrupt_between_calls_ends_only_the_next_call(server: ProviderServer) -> None:
    model = embedder(server)
    model.interrupt()

    with pytest.raises(Interrupted):
        model.embed(["an older question"])
    model.embed(["a newer question"])

    assert server.texts() == [["a newer question"]]


def test_exit_does_not_wait_for_a_request_after_another_failed(silent: ProviderServer) -> None:
    silent.reply_to = lambda texts: Reply(400, is_gated=False) if "text 0" in texts else None
    model = OPENAI.new(config(silent), dimension=8)

    with pytest.raises(EmbedError, match="answered 400"):
        model.embed([f"text {i}" for i in range(128)])

    assert all(thread.daemon for thread in asking_threads())


def test_missing_server_is_reported_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pauses: list[float] = []
    model = OLLAMA.new(Config(embedding_url=f"http://127.0.0.1:{port}/v1"), dimension=8, pause=pauses.append)

    error = failure_of(model)

    assert (error.code, error.hint, pauses) == ("embedder_unavailable", "recall search --bm25 …", [])
    assert error.message.startswith(f"Ollama at 127.0.0.1:{port} cannot be reached")


def test_refused_key_is_named_by_its_variable(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, variable, reply in [
        (OPENAI, "OPENAI_API_KEY", Reply(401)),
        (OPENAI, "OPENAI_API_KEY", Reply(403)),
        (GEMINI, "GEMINI_API_KEY", Reply(400, b'{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}')),
    ]:
        reset(server)
        monkeypatch.setenv(variable, KEY)
        server.replies.append(reply)

        error = failure_of(embedder(server, kind))

        assert (error.code, error.hint, len(server.seen)) == ("provider_unauthorized", f"export {variable}=…", 1), (
            variable,
            reply,
        )


def test_server_that_wants_an_unsent_key_is_reported(server: ProviderServer) -> None:
    server.replies.append(Reply(401))

    error = failure_of(embedder(server, LLAMACPP))

    assert error.code == "provider_unauthorized"
    assert "sends none" in error.message


def test_echoed_key_is_never_shown(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for status in [400, 401, 403, 429, 500]:
        for kind in [OPENAI, GEMINI]:
            reset(server)
            caplog.set_level(logging.DEBUG)
            monkeypatch.setenv(kind.variables[0], KEY)
            said = json.dumps({"error": {"message": f"keys {KEY} {KEY[:20]} {KEY[-9:]}x{KEY}"}}).encode()
            server.replies.extend([Reply(status, said)] * 4)

            error = failure_of(embedder(server, kind))

            output = visible_text(error) + caplog.text
            assert not any(KEY[i : i + 6] in output for i in range(len(KEY) - 5)), (kind.name, status)


def test_no_object_shows_the_key(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = embedder(server)
    model.embed(["one"])

    assert KEY not in repr(model) + repr(vars(model)) + repr(vars(model.connect())) + repr(OPENAI) + model.identity


def test_invalid_key_is_refused_without_being_shown() -> None:
    for text in ["sk-tést", "sk test", "sk\x00test"]:
        with pytest.raises(EmbedError) as caught:
            ApiKey("OPENAI_API_KEY", text).reveal()

        assert caught.value.code == "provider_unauthorized", text
        assert text not in visible_text(caught.value), text


def test_short_key_is_hidden_too() -> None:
    assert ApiKey("X", "abc").redact("the key abc is bad") == "the key *** is bad"


def test_only_loopback_addresses_count_as_local() -> None:
    for url, expected in [
        ("http://localhost:1234/v1", True),
        ("http://LOCALHOST", True),
        ("http://127.0.0.1:11434", True),
        ("http://127.8.9.10", True),
        ("http://[::1]:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://192.168.1.5:11434", False),
        ("http://0.0.0.0", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost@example.com", False),
        ("http://[::1", False),
        ("", False),
    ]:
        assert is_loopback(url) is expected, url


def test_remote_address_sends_text_and_needs_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in [OPENAI, OLLAMA, GEMINI]:
        for variable in kind.variables:
            monkeypatch.setenv(variable, KEY)
        elsewhere = Config(embedding_url="https://models.example.com/v1")

        assert kind.sends_text(elsewhere), kind.name
        assert kind.missing(elsewhere) == "it sends text to models.example.com, and allow_network is false", kind.name
        assert kind.missing(elsewhere._replace(allow_network=True)) is None, kind.name
        error = failure_of(kind.new(elsewhere, dimension=8))
        assert (error.code, error.hint) == ("network_not_allowed", "allow_network = true in recall.toml"), kind.name


def test_missing_key_is_named_and_nothing_is_sent() -> None:
    for kind, reason in [
        (OPENAI, "OPENAI_API_KEY is not set"),
        (GEMINI, "GEMINI_API_KEY or GOOGLE_API_KEY is not set"),
    ]:
        settings = Config(allow_network=True)

        assert kind.missing(settings) == reason, kind.name
        assert failure_of(kind.new(settings, dimension=8)).hint == f"export {kind.variables[0]}=…", kind.name


def test_local_server_needs_no_permission(server: ProviderServer) -> None:
    for kind in [OPENAI, OLLAMA, LLAMACPP, GEMINI]:
        assert not kind.sends_text(config(server)), kind.name
        assert kind.missing(config(server)) is None, kind.name


def test_local_presets_stay_on_this_machine() -> None:
    for kind in [OLLAMA, LLAMACPP]:
        assert not kind.sends_text(Config()), kind.name


def test_missing_package_is_named_with_its_install_command(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)

    error = failure_of(embedder(server))

    assert OPENAI.missing(config(server)) == "the httpx package is not installed"
    assert (error.code, error.hint) == ("embedder_unavailable", install_extra("providers"))


def test_key_is_never_sent_unencrypted_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plain = Config(embedding_url="http://models.example.com/v1", allow_network=True)

    error = failure_of(OPENAI.new(plain, dimension=8))

    assert (error.code, error.hint) == ("insecure_url", 'embedding_url = "https://models.example.com/v1"')
    assert KEY not in visible_text(error)


def test_unusable_address_is_refused_without_being_shown() -> None:
    for url in [
        "http://user:hush@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=hush",
        "http://127.0.0.1/v1#hush",
        "ftp://127.0.0.1/hush",
        "127.0.0.1:11434/hush",
        "http://",
        "http://127.0.0.1:99999/hush",
        "http://127.0.0.1\\hush",
        "http://[::1/hush",
    ]:
        with pytest.raises(ConfigError) as caught:
            OLLAMA.new(Config(embedding_url=url, allow_network=True), dimension=8).embed(["one"])

        assert caught.value.code == "bad_value", url
        assert "hush" not in caught.value.message, url


def test_local_text_bypasses_proxies(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")

    assert embedder(server).embed(["one"])[0]


def test_unknown_model_is_asked_for_its_dimension_once(server: ProviderServer) -> None:
    model = embedder(server, OLLAMA, dimension=None)

    assert (model.dimension, model.identity) == (8, "ollama-some-model:8")
    assert [len(texts) for texts in server.texts()] == [1]


def test_known_model_is_contacted_only_to_embed(server: ProviderServer) -> None:
    model = OPENAI.new(Config(embedding_url=server.url))

    assert (model.identity, model.dimension, model.max_input) == ("openai-text-embedding-3-small:1536", 1536, 8191)
    assert server.seen == []


def test_missing_key_fails_new_store_early_and_old_late() -> None:
    with pytest.raises(EmbedError, match="OPENAI_API_KEY is not set"):
        OPENAI.new(Config(allow_network=True))

    assert OPENAI.new(Config(allow_network=True), dimension=1536).dimension == 1536


def test_dimension_of_known_models_is_known() -> None:
    for kind, model, dimension in [
        (OPENAI, "", 1536),
        (OPENAI, "text-embedding-3-large", 3072),
        (OPENAI, "text-embedding-ada-002", 1536),
        (OPENAI, "another", None),
        (OLLAMA, "", 768),
        (LLAMACPP, "", None),
        (GEMINI, "", 3072),
    ]:
        assert kind.dimension(Config(embedding_model=model)) == dimension, (kind.name, model)


def test_llama_cpp_needs_no_model_name(server: ProviderServer) -> None:
    model = LLAMACPP.new(Config(embedding_url=server.url))

    assert model.identity == "llamacpp-unnamed:8"
    assert "model" not in server.seen[0].body


def test_kind_recognises_its_own_model_at_any_address() -> None:
    for kind in KINDS:
        here = Config(embedding_model="folder/m:1", embedding_url="http://127.0.0.1:1/v1")
        there = here._replace(embedding_url="http://localhost:2/v1", allow_network=True)
        name = "m:1" if kind is SENTENCE else "folder/m:1"
        identity = f"{kind.name}-{name}:384"

        assert kind.recognises(identity, here), kind.name
        assert kind.recognises(identity, there), kind.name
        assert not kind.recognises(identity, here._replace(embedding_model="folder/m")), kind.name
        assert not kind.recognises(f"{kind.name}-{name}:", here), kind.name
        assert not kind.recognises(f"x{identity}", here), kind.name


def test_store_decides_the_dimension(server: ProviderServer) -> None:
    server.dimension = 4

    error = failure_of(embedder(server, dimension=8))

    assert "4 components instead of 8" in error.message


def test_overlong_text_is_the_mean_of_its_windows(server: ProviderServer) -> None:
    model = embedder(server, OLLAMA)
    text = " ".join(f"word{i}" for i in range(500))

    (vector,) = model.embed([text])

    windows = server.texts()[0]
    mean = [sum(column) for column in zip(*(unit(server.vector(window)) for window in windows), strict=True)]
    assert len(windows) > 1
    assert model.windows([text, "short", ""]) == [len(windows), 1, 1]
    assert components(vector) == pytest.approx(unit(mean), abs=1e-6)


def test_windows_with_a_zero_mean_are_refused(server: ProviderServer) -> None:
    opposite = {"data": [{"index": i, "embedding": [1.0 if i else -1.0] * 8} for i in range(2)]}
    server.edit = lambda _: opposite

    error = failure_of(embedder(server, OLLAMA), "word " * 500)

    assert error.code == "provider_invalid_response"


def test_windows_contain_every_word_once_and_fit() -> None:
    for text in [
        "plain words " * 400,
        "x" * 5_000,
        "漢字" * 1_000,
        "\n" * 3_000 + "end",
        "слово " * 900,
        "a\n\n" * 800,
    ]:
        windows = cut(text, 512)

        assert len(windows) > 1 or text.split() == ["end"], text[:20]
        assert "".join("".join(windows).split()) == "".join(text.split()), text[:20]
        assert all(counter("approx").count(window) <= 512 * 3 // 4 for window in windows), text[:20]
        assert all(window.strip() for window in windows), text[:20]


def test_windows_are_cut_at_whitespace() -> None:
    words = [f"word{i}" for i in range(2_000)]

    windows = cut(" ".join(words), 512)

    assert [word for window in windows for word in window.split()] == words
    assert all(left[-1:].isdigit() for left, _ in pairwise(windows))


def test_fitting_text_is_one_unchanged_window() -> None:
    assert cut("  as it is \n", 512) == ["  as it is \n"]


def test_unencodable_characters_do_not_stop_a_query(server: ProviderServer) -> None:
    assert embedder(server).embed(["a \ud800 b", "naïve 漢字 🎉"], is_query=True)[0]
    assert server.texts() == [["a ? b", "naïve 漢字 🎉"]]


def test_every_kind_has_a_purpose() -> None:
    for kind in KINDS:
        assert kind.purpose, kind.name
        assert kind.vector_weight == 0.5, kind.name
        assert kind.sends_text(Config()) is (kind in (OPENAI, GEMINI)), kind.name


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed"
)
def test_missing_sentence_transformers_is_reported() -> None:
    assert SENTENCE.missing(Config()) == f"it is not installed: {Hint(INSTALL, 'sentence-transformers')}"
    with pytest.raises(EmbedError) as caught:
        SENTENCE.new(Config())
    assert (caught.value.code, caught.value.hint) == (
        "embedder_unavailable",
        Hint(INSTALL, "sentence-transformers"),
    )


def test_sentence_transformers_refuses_a_folder_without_a_model(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")

    with pytest.raises(EmbedError, match="cannot be loaded"):
        SENTENCE.new(Config(embedding_model=str(tmp_path / "nothing")))


def test_store_is_filled_and_searched_through_a_server(server: ProviderServer, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("the first text")
    (tmp_path / "two.txt").write_text("the second text")
    settings = (f"embedding_url={server.url}", "embedding_model=some-model")

    Recall.init(str(tmp_path), embedding="openai", settings=settings)
    with Recall.open(start=tmp_path) as recall:
        list(recall.add([str(tmp_path / "one.txt"), str(tmp_path / "two.txt")], Root("")))
        asked = len(server.seen)
        answer = recall.search("the second text")

        assert recall.store.info().embedder == "openai-some-model:8"
        assert [hit["doc"]["path"] for hit in answer["results"]] == ["two.txt", "one.txt"]
        assert server.texts()[asked:] == [["the second text"]]
