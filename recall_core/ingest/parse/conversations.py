"""Conversations: extract turns from the formats of chat programs, and render them as one text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from recall_core.ingest.parse.text import short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

ARGUMENTS = 200
"""Characters of a tool call's arguments that are kept."""
RESULT = 500
"""Characters of a tool's answer that are kept."""

_ASKING = ("user", "human")
_NAMED = (*_ASKING, "assistant")  # roles that several speakers may have
_ANSWERING = ("tool", "function", "observation", "function_response")
_ADDED = re.compile(r"\s*(?:<[a-z]+[_-][a-z_-]+[ >]|# AGENTS\.md instructions )")
"""Start of what agents write in the user's name: tags such as <environment_context>, and their instructions."""
_ITEMS = {"UserMessage": "user", "AgentMessage": "assistant"}
_EVENTS = {"user_message": "user", "agent_message": "assistant"}
_META_TURNS = 64  # turns searched for a model and a date
_ROLES = frozenset(
    "user human assistant ai gpt bot model chatgpt claude bing bard system developer tool function observation "
    "function_call function_response environment ipython".split()
)
_LISTS = ("messages", "conversations", "chat_messages", "contents")
"""Keys under which an object keeps its turns."""
KEYS = (*_LISTS, "mapping")

Shape = Literal["turns", "conversations", "records"]


class Turn(NamedTuple):
    """One turn. key: id of a message written in several pieces, else "". is_added: written by the program."""

    speaker: str
    text: str
    key: str = ""
    is_added: bool = False


class Conversation(NamedTuple):
    """Turns in order. title: "" if unknown. meta: `model` and `date`, if known."""

    turns: Sequence[Turn]
    title: str
    meta: Mapping[str, str]

    @property
    def opening(self) -> str:
        """First line of the first user turn, if possible of one that the user wrote."""
        turns = [turn for turn in self.turns if turn.speaker in _ASKING and turn.text.strip()]
        own = [turn for turn in turns if not (turn.is_added or _ADDED.match(turn.text))]
        return next((turn.text.strip().split("\n", 1)[0] for turn in own or turns), "")


def shape_of(values: Sequence[object]) -> Shape | None:
    """Return the shape of most of a file's first objects; None if it is none of the known shapes.

    A single turn makes a session, because most lines of a session may be the program's own.
    """
    kinds = [_shape(value) for value in values if isinstance(value, dict)]
    if "session" in kinds:
        return "turns"
    names: tuple[Shape, ...] = ("turns", "conversations", "records")
    return next((name for name in names if kinds.count(name) * 2 > len(values)), None)


def _shape(value: dict[str, Any]) -> str:
    if _is_tree(value.get("mapping")) or _messages(value):
        return "conversations"
    if _message(value) is not value or _event(value):
        return "session"
    if _is_turn(value) and any(key in value for key in ("content", "tool_calls", "parts")):
        return "turns"
    return "records" if isinstance(value.get("text", value.get("content")), str) else ""


def conversation_of(value: Mapping[str, Any]) -> Conversation | None:
    """Return the conversation in an object, or None."""
    is_tree = _is_tree(value.get("mapping"))
    messages = _branch(value) if is_tree else _messages(value)
    if messages is None:
        return None
    system = _text(value.get("system"))
    title = value.get("title") or value.get("name")
    turns = [Turn("system", system)] if system else []
    conversation = _read_turns(messages, turns, title=title if isinstance(title, str) else "", meta=_about(value))
    return (
        conversation._replace(turns=[turn for turn in conversation.turns if turn.text]) if is_tree else conversation
    )


def _messages(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of turns in an object, or None."""
    lists = (value.get(key) for key in _LISTS)
    return next(
        (each for each in lists if isinstance(each, list) and _are_turns(each[:64])),
        None,
    )


def _are_turns(values: Sequence[object]) -> bool:
    return sum(map(_is_turn, values)) * 2 > len(values)


def _is_turn(value: object) -> bool:
    return isinstance(value, dict) and _role(value) in _ROLES


def conversation_in(values: Iterable[object]) -> Conversation:
    """Return the conversation of these turns. Ignores other values except a title."""
    return _read_turns(values, [], title="", meta={})


def _read_turns(values: Iterable[object], turns: list[Turn], *, title: str, meta: dict[str, str]) -> Conversation:
    events: list[tuple[str, Turn]] = []
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            continue
        if event := _event(value):
            events.append(event)
            continue
        message = _message(value)
        turn = _turn(message)
        if turn is None:
            summary = value.get("summary")
            title = title or (summary if isinstance(summary, str) else "")
            continue
        if turn.key and turns and turns[-1][::2] == turn[::2]:
            turns[-1] = turn._replace(text="\n\n".join(filter(None, (turns[-1].text, turn.text))))
        elif turn.text or message is value:
            turns.append(turn._replace(is_added=True) if value.get("isMeta") is True else turn)
        if number < _META_TURNS and len(meta) < 2:
            meta = {**_about(value), **_about(message), **meta}
    if events and not turns:  # with messages, events only repeat them
        form = max(form for form, _ in events)  # items repeat events too
        turns = [turn for own, turn in events if own == form]
    return Conversation(turns, title, meta)


def _event(value: dict[str, Any]) -> tuple[str, Turn] | None:
    """Return the turn in an event of a session, with the form of the event; None for anything else."""
    payload = value.get("payload")
    if value.get("type") != "event_msg" or not isinstance(payload, dict):
        return None
    item, kind = payload.get("item"), payload.get("type")
    if isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] in _ITEMS:
        return "item", Turn(_ITEMS[item["type"]], _text(item.get("content")))
    if isinstance(kind, str) and kind in _EVENTS:
        return "event", Turn(_EVENTS[kind], _text(payload.get("message")))
    return None


def _message(value: dict[str, Any]) -> dict[str, Any]:
    """Return the message in a line of a session file; any other object unchanged."""
    inner = value.get("message", value.get("payload")) if "type" in value else None
    if not isinstance(inner, dict):
        return value
    is_call = "payload" in value and inner.get("type") in ("function_call", "function_call_output")
    return inner if is_call or (isinstance(inner.get("role"), str) and "content" in inner) else value


def _role(message: Mapping[str, Any]) -> str:
    found = message.get("role") or message.get("from") or message.get("sender")
    if not found and isinstance(author := message.get("author"), dict):
        found = author.get("role")
    return found if isinstance(found, str) else ""


def _turn(message: dict[str, Any]) -> Turn | None:
    """Return the turn in a message; None if it has none."""
    role = _role(message)
    if not role:
        return _function(message)
    content = message.get("content") or message.get("value") or message.get("parts") or message.get("text")
    text = content.strip() if isinstance(content, str) else _text(content)
    if role in _ANSWERING:
        text = _cut(text)
    elif isinstance(content, list) and _is_results(content):
        role = "tool"
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        called = map(_call, calls if isinstance(calls, list) else [calls])
        text = "\n".join(filter(None, (text, *called)))
    name = message.get("name") if role in _NAMED else None
    speaker = name if name and isinstance(name, str) else role
    key = message.get("id")
    return Turn(speaker if speaker in _ROLES else short(speaker, 60), text, key if isinstance(key, str) else "")


def _function(message: dict[str, Any]) -> Turn | None:
    """Return a tool call or tool answer that is a line of its own."""
    match message.get("type"):
        case "function_call":
            return Turn("assistant", _call(message))
        case "function_call_output":
            return Turn("tool", _cut(_text(message.get("output"))))
    return None


def _is_results(parts: Sequence[object]) -> bool:
    """Return True if a user message contains only tool answers."""
    return bool(parts) and all(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)


def _text(content: object, *, is_within: bool = False) -> str:
    """Return the text of a content: a string, a part, or a list of them."""
    if isinstance(content, dict):
        inner = content.get("parts")
        content = inner if isinstance(inner, list) else [content]
    if isinstance(content, list):
        return "\n".join(filter(None, (_part(part, is_within=is_within) for part in content)))
    return content.strip() if isinstance(content, str) else ""


def _part(part: object, *, is_within: bool) -> str:
    if not isinstance(part, dict):
        return part.strip() if isinstance(part, str) else ""
    kind = part.get("type") or part.get("content_type")
    kind = kind if isinstance(kind, str) else ""
    if "image" in kind:
        return "[image]"
    if kind == "tool_use":
        return _call(part)
    if kind == "tool_result":
        return "" if is_within else _cut(_text(part.get("content"), is_within=True))
    text = part.get("text")
    return text.strip() if isinstance(text, str) else ""


def _call(call: object) -> str:
    """Return a tool call on one line."""
    if not isinstance(call, dict):
        return ""
    inner = call.get("function")
    if isinstance(inner, dict):
        call = inner
    name = call.get("name")
    arguments = next((call[key] for key in ("arguments", "input", "args") if key in call), "")
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False)
        except RecursionError:
            arguments = "…"
    words = f"{short(name, 60) if isinstance(name, str) else 'tool'}: {short(arguments, ARGUMENTS)}"
    return f"[tool {words.rstrip(': ')}]"


def _cut(text: str) -> str:
    return text if len(text) <= RESULT else text[: RESULT - 1].rstrip() + "…"


def _is_tree(mapping: object) -> bool:
    """Return True for the message tree of a ChatGPT conversation."""
    if not isinstance(mapping, dict) or not mapping:
        return False
    return all(isinstance(node, dict) and "message" in node and "parent" in node for node in mapping.values())


def _branch(value: Mapping[str, Any]) -> list[Any]:
    """Return the messages from the root of a tree to its current node."""
    nodes = value["mapping"]
    node_id = value.get("current_node")
    if not isinstance(node_id, str) or node_id not in nodes:
        node_id = next(reversed(nodes))
    seen: dict[str, Any] = {}
    while isinstance(node_id, str) and node_id in nodes and node_id not in seen:
        seen[node_id] = nodes[node_id]["message"]
        node_id = nodes[node_id]["parent"]
    return [*reversed(seen.values())]


def _about(value: Mapping[str, Any]) -> dict[str, str]:
    """Return `model` and `date`. The date is as written, or from seconds since 1970."""
    metadata = value.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    model = next((m for m in (value.get("model"), inner.get("model_slug"), inner.get("model")) if m), None)
    date = next(
        (value[key] for key in ("create_time", "created_at", "timestamp", "created", "date") if value.get(key)), None
    )
    if isinstance(date, int | float):
        try:
            date = datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds")
        except (ValueError, OverflowError, OSError):
            date = None
    found = {"model": model, "date": date}
    return {key: short(each) for key, each in found.items() if isinstance(each, str) and each.strip()}


_FIRST_LINE = 80  # characters of the first user line, when it is the title
_BOM = b"\xef\xbb\xbf"

_NAME = r"[^\s:<>\[\]][^:<>\[\]\n]{0,59}"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_FORMS = (
    rf"^[\u200e\u200f]?\[?{_DAY},? {_CLOCK}\]?(?: -)? (?P<name>{_NAME}):",  # 12/03/24, 09:15 - Name: text
    rf"^(?:\[?(?:{_DAY}[T ])?{_CLOCK}\]? ?)?<[ @+%&~]?(?P<name>[^\s<>]{{1,60}})> ",  # [12:03] <nick> text
    rf"^\[(?:{_DAY}[T ])?{_CLOCK}\] (?P<name>{_NAME}):",  # [12:03] Name: text
    rf"^(?P<name>{_NAME}?) {{1,2}}\[?{_CLOCK}\]?[ \r]*$",  # Name 9:15 AM, and the text below it
    r"^(?P<name>(?=[^\s:])[^:\n]{1,40}):(?=[ \r\n])",  # Name: text
)


def render(
    conversation: Conversation,
    *,
    path: str,
    digest: str,
    size: int,
    record: str | None = None,
    place: str | None = None,
    notes: tuple[str, ...] = (),
) -> ParsedDocument:
    """Return a conversation as a document. A line with the speaker precedes each turn."""
    pieces: list[str] = []
    marks: list[Mark] = []
    offset = 0
    for turn in conversation.turns:
        marks += (Mark(offset, "turn"), Mark(offset, "heading", turn.speaker, 1))
        pieces.append(f"{turn.speaker}:\n{turn.text}\n\n" if turn.text else f"{turn.speaker}:\n\n")
        offset += len(pieces[-1])
    title = short(conversation.title) or short(conversation.opening, _FIRST_LINE) or path.rpartition("/")[2]
    meta = dict(conversation.meta)
    return ParsedDocument(record, "".join(pieces), title, digest, size, meta, tuple(marks), place=place, notes=notes)


def chat_marks(text: str) -> tuple[Mark, ...]:
    """Return a turn for each message of a chat, in the format that most lines have; at least two must match.

    In the bare format `Name: text`, only names that appear at least twice count as speakers, if there are any.
    """
    found = max(([*re.finditer(form, text, re.MULTILINE)] for form in _FORMS[:-1]), key=len)
    if len(found) < 2:
        found = _find_named_turns(text)
    if len(found) < 2:
        return ()
    turns = ((turn.start(), short(turn["name"], 60)) for turn in found)
    return tuple(mark for at, name in turns for mark in (Mark(at, "turn"), Mark(at, "heading", name, 1)))


def _find_named_turns(text: str) -> list[re.Match[str]]:
    found = [*re.finditer(_FORMS[-1], text, re.MULTILINE)]
    often = Counter(turn["name"] for turn in found)
    return [turn for turn in found if often[turn["name"]] > 1 or max(often.values()) == 1]
