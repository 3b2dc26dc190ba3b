"""Count the facts in short notes that a list and a context contain, with and without sparse-document recall.

Each topic has two manuals that use the words of its question in every paragraph. A note of one line answers the
question in other words. One manual of each topic contains a fact of its own, which must stay found.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from recall_core.api.recall import Ask, Pack, Recall
from recall_core.types import Root

ROWS = 10
BUDGET_TOKENS = 2_000
SHARE = 0.15
SECTIONS = 12
SENTENCES = 24


class Topic(NamedTuple):
    """A topic. words: words of the question, which its manuals repeat. fact: the part of a text that answers it."""

    words: tuple[str, str, str, str]
    question: str
    note: str
    fact: str


TOPICS = (
    Topic(("gateway", "request", "timeout", "wait"), "how long does the gateway wait for a request before a timeout",
          "The proxy drops silent connections after 45 seconds.", "45 seconds"),
    Topic(("backup", "database", "schedule", "night"), "when is the database backup scheduled at night",
          "Copies of all tables are taken at 02:40 every morning.", "02:40"),
    Topic(("invoice", "payment", "late", "fee"), "what fee is added to an invoice when the payment is late",
          "Customers who settle their bill past the due date are charged 35 euros extra.", "35 euros"),
    Topic(("holiday", "employee", "days", "year"), "how many holiday days does an employee have in a year",
          "Staff may take 28 days of vacation per annum.", "28 days"),
    Topic(("printer", "paper", "tray", "capacity"), "what is the capacity of the paper tray of the printer",
          "The copy machine takes 550 sheets at a time.", "550 sheets"),
    Topic(("car", "engine", "oil", "change"), "after how many kilometres is the engine oil of the car changed",
          "The vehicle gets fresh lubricant each 15,000 km.", "15,000 km"),
    Topic(("doctor", "medicine", "dose", "child"), "what dose of the medicine does the doctor give a child",
          "Physicians prescribe young patients 5 ml of the drug.", "5 ml"),
    Topic(("building", "fire", "exit", "door"), "which door of the building is the fire exit",
          "In case of flames leave the house through gate 7.", "gate 7"),
    Topic(("password", "account", "length", "minimum"), "what is the minimum length of the password of an account",
          "Login secrets have at least 14 characters.", "14 characters"),
    Topic(("ship", "harbour", "depth", "water"), "how deep must the water of the harbour be for the ship",
          "The vessel needs a port of 11.5 metres.", "11.5 metres"),
    Topic(("bread", "oven", "temperature", "bake"), "at which temperature is bread baked in the oven",
          "The loaf goes into the stove at 230 degrees.", "230 degrees"),
    Topic(("student", "exam", "pass", "points"), "how many points does a student need to pass the exam",
          "Pupils succeed in the test with a score of 62.", "62"),
    Topic(("train", "ticket", "refund", "cancel"), "how much is refunded when a train ticket is cancelled",
          "Give back your railway pass and you get 80 percent of the money.", "80 percent"),
    Topic(("garden", "plant", "water", "summer"), "how often does the garden plant need water in summer",
          "In the hot season irrigate the flowers twice daily.", "twice daily"),
    Topic(("phone", "battery", "charge", "hours"), "how many hours does it take to charge the battery of the phone",
          "The mobile is fully powered again in 95 minutes.", "95 minutes"),
    Topic(("computer", "memory", "size", "maximum"), "what is the maximum size of the memory of the computer",
          "The laptop accepts RAM of no more than 96 gigabytes.", "96 gigabytes"),
    Topic(("river", "bridge", "weight", "truck"), "which weight may a truck have on the bridge over the river",
          "Lorries above 18 tonnes must not cross the stream there.", "18 tonnes"),
    Topic(("hotel", "room", "breakfast", "morning"), "until when is breakfast served in the morning at the hotel",
          "Guests of the inn can eat their first meal until 10:15.", "10:15"),
    Topic(("library", "book", "borrow", "weeks"), "for how many weeks may a book be borrowed from the library",
          "Readers return their volumes within 21 days.", "21 days"),
    Topic(("factory", "machine", "noise", "limit"), "what is the limit for the noise of a factory machine",
          "Sound in the plant must stay below 78 decibels.", "78 decibels"),
    Topic(("airport", "luggage", "passenger", "weight"), "what may the luggage of a passenger weigh at the airport",
          "Travellers take bags of up to 23 kilograms on their flight.", "23 kilograms"),
    Topic(("school", "lesson", "begin", "morning"), "when do lessons begin in the morning at the school",
          "Classes for children start at 07:50.", "07:50"),
    Topic(("bank", "loan", "interest", "rate"), "what is the interest rate of a loan at the bank",
          "Borrowed money costs 4.9 per cent annually.", "4.9 per cent"),
    Topic(("dog", "food", "daily", "amount"), "what amount of food does the dog get daily",
          "Feed the puppy 320 grams each day.", "320 grams"),
)  # fmt: skip
VERBS = (
    "describes",
    "checks",
    "explains",
    "compares",
    "reviews",
    "measures",
    "reports",
    "adjusts",
    "watches",
    "tests",
)
THINGS = (
    "plans",
    "cases",
    "owners",
    "steps",
    "figures",
    "changes",
    "signals",
    "orders",
    "records",
    "limits",
    "tables",
)


class Fact(NamedTuple):
    """A question and its answer. is_short: the fact is in a note."""

    question: str
    text: str
    path: str
    is_short: bool


class Held(NamedTuple):
    """The facts that were found, in order."""

    listed: tuple[bool, ...]
    packed: tuple[bool, ...]


def manual(number: int, volume: int) -> str:
    """Return sections of about 200 words on a topic. The last section of volume 0 contains the manual's fact."""
    words, lines = TOPICS[number].words, [f"# Manual of the {TOPICS[number].words[0]}, volume {volume + 1}"]
    for section in range(SECTIONS):
        sentences = []
        for n in range(SENTENCES):
            first, second = words[n % 4], words[(n + 1 + section) % 4]
            verb, thing = VERBS[(3 * n + section + number) % 10], THINGS[(5 * n + 2 * section + volume) % 11]
            sentences.append(f"The {first} {verb} the {second} {thing}.")
        if volume == 0 and section == SECTIONS - 1:
            sentences.insert(0, signature(number))
        lines.append(f"## Section {section + 1}\n\n{' '.join(sentences)}")
    return "\n\n".join(lines) + "\n"


def signature(number: int) -> str:
    """Return the fact of a manual."""
    return f"Inspector{number} signs the {TOPICS[number].words[0]} form {6100 + number}."


def facts() -> tuple[Fact, ...]:
    """Return the facts of the notes, then those of the manuals."""
    short = [Fact(topic.question, topic.fact, f"note-{n:02}.txt", True) for n, topic in enumerate(TOPICS)]
    long = [
        Fact(f"which {topic.words[0]} form does Inspector{n} sign", f"form {6100 + n}", f"manual-{n:02}-0.md", False)
        for n, topic in enumerate(TOPICS)
    ]
    return (*short, *long)


def build(folder: Path, embedder: str) -> Recall:
    """Return the open store of the corpus."""
    docs = folder / "docs"
    docs.mkdir()
    for number, topic in enumerate(TOPICS):
        (docs / f"note-{number:02}.txt").write_text(f"{topic.note}\n")
        for volume in range(2):
            (docs / f"manual-{number:02}-{volume}.md").write_text(manual(number, volume))
    Recall.init(str(folder), embedding=embedder)
    recall = Recall.open(start=folder)
    for _ in recall.add([str(docs)], Root("")):
        pass
    return recall


def calibrated(recall: Recall, folder: Path, judged: Sequence[Fact]) -> tuple[float, int]:
    """Return the ceiling proposed for these questions, and how many of their lists are mostly long documents."""
    queries, qrels = folder / "queries.jsonl", folder / "qrels.tsv"
    lines = [json.dumps({"_id": f"q{n}", "text": fact.question}) for n, fact in enumerate(judged)]
    queries.write_text("\n".join(lines) + "\n")
    rows = [f"q{n}\tdocs/{fact.path}\t1" for n, fact in enumerate(judged)]
    qrels.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n")
    view = recall.calibrate_sparse(Ask(k=ROWS), queries=queries, qrels=qrels)["calibration"]
    ceiling = view["proposed"]["ceiling"] if "proposed" in view else 0.2
    return ceiling, view["mostly_long"]


def held(recall: Recall, asked: Sequence[Fact], *settings: str) -> Held:
    """Return the facts that a list of ten rows and a context of 2,000 tokens contain, with default flags."""
    listed, packed = [], []
    for fact in asked:
        rows = recall.search(fact.question, Ask(k=ROWS, settings=settings))["results"]
        listed.append(any(fact.text in row["chunk"]["text"] for row in rows))
        made = recall.context(fact.question, Ask(settings=settings), Pack(budget_tokens=BUDGET_TOKENS))["context"]
        packed.append(any(fact.text in block["text"] and fact.path in block["path"] for block in made["blocks"]))
    return Held(tuple(listed), tuple(packed))


def report(embedder: str) -> Iterator[str]:
    """Yield the results as lines of Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder, every = Path(name), facts()
        with build(folder, embedder) as recall:
            half = [fact for n, fact in enumerate(every) if n % 2 == 0]
            ceiling, crowded = calibrated(recall, folder, half)
            on = (f"sparse_distance_ceiling={ceiling:g}", f"sparse_share={SHARE:g}")
            without, share, old = (
                held(recall, every, *settings)
                for settings in (("sparse_recall=false",), on, (on[0], "sparse_share=0"))
            )
    lists = f"{crowded} with lists of mostly long documents"
    yield f"{embedder}: ceiling {ceiling:g}, from {len(half)} questions, {lists}"
    yield ""
    yield "| | without | recall, no share | recall, share |"
    yield "|---|---|---|---|"
    for title, choice in (("in notes", _short), ("in notes, questions held out", _held_out), ("in manuals", _long)):
        for place in ("listed", "packed"):
            of = [n for n, fact in enumerate(every) if choice(n, fact)]
            counts = [sum(getattr(each, place)[n] for n in of) for each in (without, old, share)]
            where = f"a list of {ROWS}" if place == "listed" else f"a context of {BUDGET_TOKENS:,} tokens"
            yield f"| facts {title}, {where}, of {len(of)} | {' | '.join(map(str, counts))} |"
    lost = [n for n, fact in enumerate(every) if not fact.is_short and _is_lost(n, without, share)]
    yield ""
    yield f"facts in manuals that were found and are lost: {len(lost)}"


def _short(_number: int, fact: Fact) -> bool:
    return fact.is_short


def _held_out(number: int, fact: Fact) -> bool:
    return fact.is_short and number % 2 == 1


def _long(_number: int, fact: Fact) -> bool:
    return not fact.is_short


def _is_lost(number: int, before: Held, after: Held) -> bool:
    return any(was[number] and not now[number] for was, now in zip(before, after, strict=True))


def main(argv: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    """Run `python -m benchmarks.sparse`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedders", default="hash,local", help="embedders, separated by commas")
    for embedder in parser.parse_args(argv).embedders.split(","):
        for line in report(embedder):
            say(line)
        say("")


if __name__ == "__main__":
    main()
