"""`recall report`: one file that shows the response, executes nothing it quotes, and needs nothing else."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.report import fence_text, flat
from recall_core.adapters.report_page import page, tag, visible
from recall_core.adapters.streams import Streams
from tests.contracts import validator

HOSTILE = (
    "# <h1>Heading & \"quotes\"</h1>\n\n<script>alert('retry')</script> </pre></style></details> retry --> ]]>\n"
    "<img src=http://example.org/x onerror=alert(1)> &amp; \x07\x1b[31m \u202ereversed\u202c\n"
    "```\nfence | pipe\n```\n"
)
QUESTION = "retry <img src=x onerror='alert(1)'> \"budget\" & more"
_VOID = {"meta", "br", "hr", "circle", "line", "rect", "path"}
_FETCHES = {"src", "href", "srcset", "data", "action", "poster", "xlink:href", "formaction", "background"}


class Reader(HTMLParser):
    """A parser that collects the parts of a page, and complains about elements closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(name)
        self.attributes += [(key, value or "") for key, value in attributes]
        if name not in _VOID:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(name)
        self.attributes += [(key, value or "") for key, value in attributes]

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, text: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(text)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    template: Path = tmp_path_factory.mktemp("made")
    (template / "docs").mkdir()
    (template / "docs" / 'a<b>&"c.md').write_text(HOSTILE)
    (template / "docs" / "plain.md").write_text("# Plain\n\nA retry budget for every client.\n")
    (template / "docs" / "more.md").write_text("# More\n\nMore of a budget, and no other word.\n")
    with contextlib.chdir(template):
        assert run("init", "--embedding", "hash")[0] == 0
        assert run("add", "docs")[0] == 0
    return template


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(template, tmp_path, dirs_exist_ok=True))


def run(*argv: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = cli.main(argv, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_page_is_complete_and_executes_nothing_it_quotes(home: Path) -> None:
    assert run("report", QUESTION, "--html", "out.html")[0] == 0

    text = (home / "out.html").read_text(encoding="utf-8")
    found = read(text)
    assert {"script", "img", "link", "iframe", "object", "base", "form"}.isdisjoint(found.tags)
    assert not any(name.startswith("on") or name in _FETCHES for name, _ in found.attributes)
    assert found.texts["h1"] == [QUESTION]
    assert any("<script>alert('retry')</script>" in each for each in found.texts["pre"])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_page_requests_nothing_from_elsewhere(home: Path) -> None:
    text = run("report", "budget client", "--html", "-")[1]

    found = read(text)
    obeyed = " ".join([*found.texts["style"], *(value for _, value in found.attributes)])
    assert not re.search(r"https?:|url\(|@import|//[a-z]", obeyed)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in found.attributes


def test_page_shows_every_result_with_ledger_and_context(home: Path) -> None:
    code, out, _ = run("report", "retry budget", "--html", "out.html", "--json")
    response: dict[str, Any] = json.loads(out)
    validator().validate(response)
    text = (home / "out.html").read_text(encoding="utf-8")
    shown = [each for texts in read(text).texts.values() for each in texts]

    assert code == 0
    assert text.count("<article>") == len(response["results"]) == 3
    for result in response["results"]:
        assert f"{result['score']:.3f}" in shown
        for part in result["explain"]["parts"]:
            assert f"{part['points']:+.6f}" in shown
            for leaf in part.get("leaves", []):
                assert visible(leaf["text"]) in shown
    assert visible(response["context"]["text"]) == next(each for each in shown if each.startswith("[1] "))
    assert len(response["report"]["lines"]) == 3
    assert response["report"]["html"] == "out.html"


def test_same_query_gives_the_same_bytes(home: Path) -> None:
    first, second = (run("report", "retry budget", form, "-")[1] for form in ("--html", "--html"))
    assert first == second
    assert run("report", "retry budget", "--md", "-")[1] == run("report", "retry budget", "--md", "-")[1]


def test_rank_lines_match_the_ranks_of_search(home: Path) -> None:
    report = json.loads(run("report", "retry budget", "--html", "out.html", "--json")[1])
    ids = [result["chunk"]["id"] for result in report["results"]]

    for weight in (0.0, 0.35, 1.0):
        flags = (f"--set=vector_weight={weight}", f"--set=bm25_weight={1 - weight}")
        listed = json.loads(run("search", "retry budget", "--json", *flags)[1])["results"]
        ranks = {result["chunk"]["id"]: rank for rank, result in enumerate(listed, start=1)}
        for line in report["report"]["lines"]:
            holding = [step["rank"] for step in line["steps"] if step["low"] <= weight <= step["high"]]
            assert ranks[ids[line["result"]]] in holding


def test_both_files_may_be_written_and_stdout_names_them(home: Path) -> None:
    code, out, _ = run("report", "retry", "--html", "a.html", "--md", "a.md")
    assert (code, out) == (0, "html      a.html\nmarkdown  a.md\n")


def test_page_on_stdout_is_the_only_output(home: Path) -> None:
    code, out, err = run("report", "retry", "--html", "-", "--md", "a.md", "--json")
    assert code == 0
    assert out.startswith("<!DOCTYPE html>\n")
    assert out.endswith("</html>\n")
    assert json.loads(err)["report"] == {**json.loads(err)["report"], "html": "-", "markdown": "a.md"}


def test_markdown_shows_texts_unchanged(home: Path) -> None:
    run("report", QUESTION, "--md", "a.md")

    text = (home / "a.md").read_text(encoding="utf-8")
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
    assert "<script>alert('retry')</script>" in text
    assert "<script>" not in outside
    assert "fence | pipe" not in outside
    assert flat("a|b <i> `c`\nd") == r"a\|b \<i\> \`c\` d"
    assert "".join(fence_text("a\n````\nb")).startswith("`````text\n")


def test_report_of_a_query_omits_missing_sections(home: Path) -> None:
    found = read(run("report", "--rql", "SELECT * FROM chunk FILTER doc.path LIKE '%more%'", "--html", "-")[1])
    assert found.texts["h2"] == ["Results", "Funnel", "Context"]

    nothing = read(run("report", "--rql", "SELECT doc.path FROM doc USING lexical('zzz')", "--html", "-")[1])
    assert nothing.tags.count("article") == 0


def test_funnel_is_shown_if_the_response_has_one(home: Path) -> None:
    response: Any = json.loads(run("report", "retry", "--html", "out.html", "--json")[1])

    shown = read(page(response)).texts["td"]

    rows = list(zip(shown, shown[1:], shown[2:], strict=False))
    assert response["trace"]["stages"]
    for stage in response["trace"]["stages"]:
        assert (stage["stage"], f"{stage['rows_in']}", f"{stage['rows_out']}") in rows
    response["trace"]["stages"] = []
    assert "Funnel" not in read(page(response)).texts["h2"]


def test_elements_are_escaped_by_construction() -> None:
    made = tag("p", "a<b", tag("b", "&"), title_='"><script>', data_x=1.5)
    assert made == '<p title="&quot;&gt;&lt;script&gt;" data-x="1.5">a&lt;b<b>&amp;</b></p>'
    assert visible("a\r\nb\x00\x1b\ud800\u202e") == "a\nb\u2400\u241b\ufffd\ufffd"


def test_missing_or_unwritable_output_is_refused(home: Path) -> None:
    def refused(*argv: str) -> tuple[int, str]:
        code, out, _ = run("report", *argv, "--json")
        return code, json.loads(out)["error"]["code"]

    assert refused("retry") == (2, "missing_argument")
    assert refused("--html", "a.html") == (2, "missing_argument")
    assert refused("retry", "--html", "-", "--md", "-") == (2, "conflicting_flags")
    assert refused("retry", "--html", "nowhere/a.html") == (1, "out_unwritable")
