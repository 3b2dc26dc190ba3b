"""Promises of the transcript parser: JSON conversations and plain-text chats."""

import json
from hashlib import sha256
from typing import Any, ClassVar

from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse import parser
from recall_core.marks import Mark, Places, why_unfit
from recall_core.ports import ParsedDocument
from recall_core.text import counter, is_storable
from tests.odd_json import odd
from tests.unit.test_parse_elsewhere import NightlyElsewhere

ASKED = "user:\nWhere is the ship?\n\nassistant:\nIn the harbour.\n\n"
CHAT = [{"role": "user", "content": "Where is the ship?"}, {"role": "assistant", "content": "In the harbour."}]


def read(value: Any, path: str = "in/a.json", *, name: str = "json") -> list[ParsedDocument]:
    raw = (value if isinstance(value, str) else json.dumps(value)).encode()
    return list(parser(name).parse(raw, path=path, digest=sha256(raw).hexdigest()))


def session(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def message(role: str, content: Any, **others: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content, **others}}


def chat(*names_and_texts: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": name, "content": text} for name, text in names_and_texts]


def node(node_id: str, parent: str | None, role: str, *parts: Any, **others: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"id": node_id, "parent": parent, "message": {"author": {"role": role}, "content": content, **others}}


TREE = {
    "title": "The ship",
    "create_time": 1700000000.5,
    "conversation_id": "c-1",
    "current_node": "d",
    "mapping": {
        "root": {"id": "root", "parent": None, "message": None},
        "a": node("a", "root", "system", ""),
        "b": node("b", "a", "user", "Where is the ship?", {"content_type": "image_asset_pointer"}),
        "c": node("c", "b", "assistant", "An answer that was thrown away."),
        "d": node("d", "b", "assistant", "In the harbour.", metadata={"model_slug": "m-5"}),
    },
}
WHATSAPP = (
    "12/03/24, 09:15 - Messages are encrypted.\n12/03/24, 09:15 - Ann: Where is it?\nNote: the ship\n"
    "12/03/24, 09:17 - Bob O'Hara: In the harbour: berth 4\n"
)


class TestConversations(NightlyElsewhere):
    name = "json"
    samples: ClassVar = {
        "openai.json": json.dumps(CHAT).encode(),
        "conversations.json": json.dumps([TREE, {**TREE, "conversation_id": "c-2"}]).encode(),
        "session.jsonl": session(
            {"type": "summary", "summary": "S"}, message("user", "hi"), message("assistant", "é")
        ).encode(),
    }


class TestTranscripts(NightlyElsewhere):
    name = "transcript"
    samples: ClassVar = {
        "whatsapp.txt": WHATSAPP.encode(),
        "irc.txt": b"<ann> where\n<bob> here\n",
        "chat.json": json.dumps(CHAT).encode(),
        "prose.txt": b"no chat at all\n",
    }


def test_conversation_of_any_shape_is_turns_under_speakers() -> None:
    for value in [
        CHAT,
        {"messages": CHAT},
        {"system": "", "messages": chat(("user", "Where is the ship?"), ("assistant", "In the harbour."))},
        session(*CHAT),
        session(*(message(turn["role"], turn["content"]) for turn in CHAT)),
        session(*({"type": "response_item", "payload": {"type": "message", **turn}} for turn in CHAT)),
        [{"role": turn["role"], "content": [{"type": "text", "text": turn["content"]}]} for turn in CHAT],
        {"contents": [{"role": turn["role"], "parts": [{"text": turn["content"]}]} for turn in CHAT]},
    ]:
        (document,) = read(value)

        assert (document.text, document.record, document.title) == (ASKED, None, "Where is the ship?"), value
        assert document.marks == (
            Mark(0, "turn"),
            Mark(0, "heading", "user", 1),
            Mark(26, "turn"),
            Mark(26, "heading", "assistant", 1),
        ), value


def test_other_role_names_are_kept() -> None:
    shared = {"id": "s", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]}
    claude = {"uuid": "u", "name": "Talk", "chat_messages": [{"sender": "human", "text": "hi"}]}

    found = read([shared, claude])

    assert [(each.record, each.title, each.text) for each in found] == [
        ("s", "hi", "human:\nhi\n\ngpt:\nho\n\n"),
        ("u", "Talk", "human:\nhi\n\n"),
    ]


def test_several_conversations_are_records_with_their_starting_lines() -> None:
    found = read(session({"messages": CHAT}, {"id": "x", "messages": CHAT}))

    assert [(each.record, each.place, each.text) for each in found] == [
        ("1", "line 1", ASKED),
        ("x", "line 2", ASKED),
    ]
    assert found[1].hash == sha256(json.dumps({"id": "x", "messages": CHAT}).encode()).hexdigest()


def test_tree_is_read_along_the_branch_to_its_current_node() -> None:
    (document,) = read([TREE])

    assert document.text == "user:\nWhere is the ship?\n[image]\n\nassistant:\nIn the harbour.\n\n"
    assert (document.record, document.title) == ("c-1", "The ship")
    assert document.meta == {"model": "m-5", "date": "2023-11-14T22:13:20+00:00"}


def test_cyclic_tree_ends() -> None:
    ring = {"mapping": {"a": node("a", "b", "user", "one"), "b": node("b", "a", "user", "two")}}

    assert read([ring])[0].text == "user:\none\n\nuser:\ntwo\n\n"


def test_tool_calls_are_one_line_and_their_results_are_shortened() -> None:
    anthropic = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hidden"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "name": "Bash", "input": {"command": "ls\n" + "x" * 900}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "y" * 900}]}]},
    ]
    calls = [{"type": "function", "function": {"name": "find", "arguments": '{"a":\n 1}'}}]
    openai = [{"role": "assistant", "content": None, "tool_calls": calls}, {"role": "tool", "content": "z" * 501}]

    first, second, third = read(anthropic)[0].text.removesuffix("\n\n").split("\n\n")
    assert first == "user:\ngo"
    assert second.startswith('assistant:\nI look.\n[tool Bash: {"command": "ls\\nxxx')
    assert (len(second.split("[tool Bash: ")[1]), second[-2:]) == (201, "…]")
    assert third == f"tool:\n{'y' * 499}…"
    assert read(openai)[0].text == f'assistant:\n[tool find: {{"a": 1}}]\n\ntool:\n{"z" * 499}…\n\n'


def test_pictures_are_named_and_system_prompts_are_kept() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    value = {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [picture, {"type": "text", "text": "see"}]}],
    }

    assert read(value)[0].text == "system:\nBe brief.\n\nuser:\n[image]\nsee\n\n"


def test_turn_without_text_is_a_turn() -> None:
    (document,) = read(chat(("user", "one"), ("assistant", ""), ("user", "three")))

    assert document.text == "user:\none\n\nassistant:\n\nuser:\nthree\n\n"
    at = document.text.index("three")
    assert Places(document.marks).at(at, at + 1) == "turn 3"


def test_session_lines_without_messages_are_skipped() -> None:
    raw = session(
        {"type": "summary", "summary": "A talk"},
        {"type": "progress", "data": {"hook": 1}},
        {**message("user", "hi"), "timestamp": "2025-03-01T10:00:00Z"},
        message("assistant", [{"type": "text", "text": "one"}], id="m1", model="m-5"),
        message("assistant", [{"type": "tool_use", "name": "ls", "input": {}}], id="m1", model="m-5"),
        message("assistant", [{"type": "thinking", "thinking": "x"}], id="m2"),
    )

    (document,) = read(raw + '{"cut o')

    assert document.text == "user:\nhi\n\nassistant:\none\n\n[tool ls: {}]\n\n"
    assert (document.title, document.meta) == ("A talk", {"date": "2025-03-01T10:00:00Z", "model": "m-5"})
    assert document.notes == ("line 7 is not JSON and was skipped",)


def test_non_conversation_element_is_reported_and_skipped() -> None:
    found = read(session(*[{"messages": CHAT}] * 3, {"messages": []}, "{"))

    assert [document.record for document in found] == ["1", "2", "3"]
    assert found[0].notes == ("line 4 contains no conversation and was skipped, like 1 more",)


def test_title_is_short_and_on_one_line() -> None:
    assert len(read(chat(("user", "word " * 100)))[0].title) <= 80
    assert read(chat(("user", "\n first\nsecond")))[0].title == "first"
    assert read(chat(("assistant", "hi")))[0].title == "a.json"


def test_lone_surrogate_in_a_turn_is_replaced() -> None:
    assert read('[{"role": "user", "content": "cut \\ud83d"}]')[0].text == "user:\ncut \ufffd\n\n"


def test_fitting_turn_is_never_split() -> None:
    value = chat(*(("user" if i % 2 else "assistant", f"{i}\n\n" + "Words. And more. " * 9) for i in range(30)))
    (document,) = read(value)
    config = Config(chunk_tokens=45, overlap_tokens=0)

    spans = chunk(document.text, counter=counter("whitespace"), config=config, marks=document.marks)

    assert len(spans) == 30
    assert {span.heading for span in spans} == {"user", "assistant"}


def test_plain_chat_keeps_its_text_and_has_turns() -> None:
    for text, speakers in [
        (WHATSAPP, ["Ann", "Bob O'Hara"]),
        ("[12/03/2024, 09:15:01] Ann: a\n[12/03/2024, 09:15:02] Bob: b\n", ["Ann", "Bob"]),
        ("[12:03] Ann: where\nmore: of it\n[12:04] Bob: here\n", ["Ann", "Bob"]),
        ("<ann> where\n* bob waves\n<@bob> here\n", ["ann", "bob"]),
        ("[12:03:04] <ann> where\n12:04 <bob> here\n", ["ann", "bob"]),
        ("Ann  9:15 AM\nwhere\n\nBob  [9:16 AM]\nhere\n", ["Ann", "Bob"]),
        ("Ann: where\r\nBob: here\r\nAnn: thanks\r\nBob:\r\nfine\r\nNote: nobody\r\n", ["Ann", "Bob", "Ann", "Bob"]),
        ("Ann: where\nBob: here\n", ["Ann", "Bob"]),
        ("https://example.org\nNot: a chat\n", []),
    ]:
        (document,) = read(text, "in/chat.txt", name="transcript")

        assert (document.text, document.title) == (text, "chat.txt"), (text, speakers)
        assert [mark.name for mark in document.marks if mark.kind == "heading"] == speakers, (text, speakers)
        assert [mark.kind for mark in document.marks].count("turn") == len(speakers), (text, speakers)
        assert document.notes == (() if speakers else ("no turns found",)), (text, speakers)


def test_transcript_parser_accepts_json_conversations() -> None:
    assert read(CHAT, "a.txt", name="transcript") == read(CHAT, "a.txt")
    assert read('{"a": 1}', name="transcript")[0].text == '{"a": 1}'


KEYS = [
    "role",
    "content",
    "messages",
    "type",
    "text",
    "message",
    "mapping",
    "parent",
    "author",
    "tool_calls",
    "input",
]
WORDS = ["assistant", "tool_use", "tool_result", "function_call", "image", "a", "message"]


@given(st.integers(0, 2**32), st.sampled_from([CHAT, [], [TREE]]), st.sampled_from(["messages", "contents", ""]))
def test_odd_turns_do_no_harm(seed: int, others: list[Any], key: str) -> None:
    odd_turns = [
        {"role": "user", "content": odd(seed, keys=KEYS, words=WORDS)},
        odd(seed + 1, keys=KEYS, words=WORDS),
    ]
    turns = [*others, *odd_turns, {"role": "tool", "content": "x"}]

    for document in read(
        {key: turns, "model": odd(seed, keys=KEYS), "created": odd(seed, keys=KEYS)} if key else turns
    ):
        assert why_unfit(document.marks, len(document.text)) is None
        assert is_storable(document.text)
        assert is_storable(document.title)
        assert all(isinstance(value, str) for value in document.meta.values()) or document.record


@given(st.integers(0, 2**32))
def test_odd_trees_do_no_harm(seed: int) -> None:
    mapping = {key: {"message": odd(seed + i, keys=KEYS, words=WORDS), "parent": "a"} for i, key in enumerate("abc")}

    for document in read([{"mapping": mapping, "current_node": odd(seed, keys=KEYS, words=WORDS)}]):
        assert is_storable(document.text)


@given(st.text(alphabet="ab1:. []<>-/,\n\rA", max_size=80))
def test_any_text_is_read_unchanged(text: str) -> None:
    for document in read(text, "a.txt", name="transcript"):
        assert document.text == text
        assert why_unfit(document.marks, len(text)) is None


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-01T10:00:00.000Z", "type": "event_msg", "payload": payload}


def test_events_count_only_without_messages() -> None:
    said = [event(type="user_message", message="Where?"), event(type="agent_message", message="Here.")]
    items = [
        event(type="item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "Where?"}]}),
        event(type="item_completed", item={"type": "AgentMessage", "content": [{"type": "Text", "text": "Here."}]}),
    ]
    whole = [
        {"type": "response_item", "payload": {"type": "message", "role": role, "content": text}}
        for role, text in (("user", "Where?"), ("assistant", "Here."))
    ]
    for lines in (said, items, [*said, *items], [*said, *items, *whole]):
        (found,) = read(session({"type": "session_meta", "payload": {"id": "s"}}, *lines), "s.jsonl")
        assert found.text == "user:\nWhere?\n\nassistant:\nHere.\n\n", lines


def test_title_is_what_the_user_wrote() -> None:
    added = [
        {**message("user", "Caveat: local commands."), "isMeta": True},
        message("user", "<command-name>/clear</command-name>"),
        message("user", "# AGENTS.md instructions for work"),
    ]
    (found,) = read(session(*added, message("user", "rename the table")), "s.jsonl")
    assert (found.title, "Caveat" in found.text) == ("rename the table", True)
    assert read(session(*added), "s.jsonl")[0].title == "Caveat: local commands."
