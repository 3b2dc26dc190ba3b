"""Judged queries on code and manuals: their files, and how two chunkings are compared."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.files import compare, corpora, known
from benchmarks.files.compare import Cut, HitPlace, JudgedQuestion, JudgedSpan, LineRange

APART = 100
"""Lines between judged spans of one file: too far apart for one hit of today's chunking to cover two of them."""

PACKAGES = Path(os.environ.get("RECALL_DATA", ""), "packages")

EACH = pytest.mark.parametrize("name", list(compare.COLLECTIONS))


def span(path: str, first: int, last: int, grade: int = 2) -> JudgedSpan:
    return JudgedSpan(path, LineRange(first, last), grade)


def hit(path: str, first: int, last: int, tokens: int = 100) -> HitPlace:
    return HitPlace(path, LineRange(first, last), tokens)


def judged_question(*spans: JudgedSpan) -> JudgedQuestion:
    return JudgedQuestion("q", "a question", spans)


@EACH
def test_sixty_queries_have_distinct_texts(name: str) -> None:
    questions = compare.read_questions(name)

    assert [each.id for each in questions] == [f"{name[0]}{number:02}" for number in range(1, 61)]
    assert len({each.text for each in questions}) == 60


@EACH
def test_every_query_has_an_answer_graded_1_or_2(name: str) -> None:
    for question in compare.read_questions(name):
        grades = {each.grade for each in question.grades}
        assert 2 in grades <= {1, 2}, question.id
        assert all(1 <= each.lines.first <= each.lines.last for each in question.grades), question.id


@EACH
def test_judged_spans_of_a_file_do_not_overlap(name: str) -> None:
    for question in compare.read_questions(name):
        spans = sorted((each.path, each.lines) for each in question.grades)
        for (path, lines), (other, after) in pairwise(spans):
            assert path != other or after.first - lines.last >= APART, (question.id, path)


@EACH
def test_queries_are_spread_over_all_packages(name: str) -> None:
    folders = [package.folder for package in compare.COLLECTIONS[name]]
    answers = [each.path for question in compare.read_questions(name) for each in question.grades if each.grade == 2]

    assert all(path.split("/")[0] in folders for path in answers)
    assert all(sum(path.startswith(f"{folder}/") for path in answers) >= 6 for folder in folders)
    assert len(set(answers)) >= 30


def test_twenty_code_queries_have_a_distracting_test() -> None:
    questions = compare.read_questions("code")

    assert sum(bool(each.distractors) for each in questions) >= 20
    for question in questions:
        answers = {(each.path, each.lines) for each in question.grades if each.grade == 2}
        assert all("/tests/" in each.path for each in question.distractors), question.id
        assert answers.isdisjoint((each.path, each.lines) for each in question.distractors), question.id


@EACH
@pytest.mark.skipif(not PACKAGES.is_dir(), reason="needs RECALL_DATA with packages/")
def test_every_judged_line_is_in_the_pinned_packages(name: str, tmp_path: Path) -> None:
    corpora.unpack(compare.COLLECTIONS[name], PACKAGES, tmp_path)

    for question in compare.read_questions(name):
        for judged in (*question.grades, *question.distractors):
            lines = (tmp_path / judged.path).read_text(encoding="utf-8").splitlines()
            assert judged.lines.last <= len(lines), (question.id, judged)
            assert lines[judged.lines.first - 1].strip(), (question.id, judged)
            assert lines[judged.lines.last - 1].strip(), (question.id, judged)


def test_hit_counts_from_a_third_of_the_smaller_span() -> None:
    judged = span("a.py", 10, 18)

    assert compare.covers(hit("a.py", 16, 200), judged)
    assert not compare.covers(hit("a.py", 17, 200), judged)
    assert compare.covers(hit("a.py", 8, 10), judged)
    assert not compare.covers(hit("b.py", 10, 18), judged)
    assert not compare.covers(HitPlace("a.py", None, 9), judged)


def test_judged_span_counts_once_at_the_higher_grade() -> None:
    question = judged_question(span("a.py", 1, 10, grade=1), span("a.py", 11, 20))
    hits = [hit("a.py", 1, 20), hit("a.py", 15, 40), hit("a.py", 5, 10), hit("b.py", 1, 9)]

    assert compare.gained(hits, question) == ["1", "hit 1", "0", "hit 3"]


def test_scores_are_ndcg_of_earned_grades() -> None:
    question = judged_question(span("a.py", 1, 10), span("b.py", 1, 10, grade=1))
    best, other = hit("a.py", 1, 10), hit("b.py", 1, 10)

    assert compare.scores([question], {"q": [best, other]}) == {"q": 1.0}
    assert compare.scores([question], {"q": [hit("c.py", 1, 10), best]}) == {"q": pytest.approx(0.479625)}
    assert compare.scores([question], {"q": []}) == {"q": 0.0}


def test_place_of_a_mapped_text_gives_its_lines() -> None:
    told = {"line_start": 1, "line_end": 2, "tokens": 7}

    assert compare._place("a", told) == hit("a", 1, 2, 7)
    assert compare._place("a", {**told, "place": "line 120-131"}) == hit("a", 120, 131, 7)
    assert compare._place("a", {**told, "place": "line 12"}) == hit("a", 12, 12, 7)
    assert compare._place("a", {**told, "place": "page 3"}) == HitPlace("a", None, 7)


def test_only_hits_within_the_budget_are_measured() -> None:
    hits = [hit("a.py", 1, 2, 60), hit("b.py", 1, 2, 50), hit("c.py", 1, 2, 1)]

    assert compare.within(hits, 110) == hits[:2]
    assert compare.within(hits, 109) == hits[:1]


def test_difference_is_paired_with_a_reproducible_interval() -> None:
    after, before = {"a": 1.0, "b": 0.5, "c": 0.5}, {"c": 0.5, "b": 0.0, "a": 0.5}

    found = compare.difference(after, before)

    assert found == compare.difference(after, before)
    assert (round(found.difference, 6), found.wins, found.losses, found.ties) == (0.333333, 2, 0, 1)
    assert found.low == 0.0 < found.difference < found.high == 0.5


def test_chunking_equals_itself_and_differs_from_another(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    filler = "".join(f"    note(about_{number} = value_{number})\n" for number in range(40))
    text = "".join(f"def {name}():\n    # {name} hides a needle\n{filler}\n" for name in ("alpha", "beta", "gamma"))
    (folder / "a.py").write_text(text, encoding="utf-8")
    (folder / "b.py").write_text("def test_beta():\n    beta()\n    needle()\n", encoding="utf-8")
    questions = [judged_question(span("a.py", 44, 85), span("a.py", 87, 128, grade=1))]
    cuts = [Cut("text"), Cut("text"), Cut("text", ("chunk_tokens=60", "overlap_tokens=0"))]

    one, same, other = (
        compare.asked(folder, cut, questions, embeddings="hash", work=tmp_path / str(number))
        for number, cut in enumerate(cuts)
    )

    assert compare.difference(same.scores, one.scores).difference == 0.0
    assert compare.difference(other.scores, one.scores).difference != 0.0
    assert one.documents == 2
    assert other.chunks > one.chunks


def sdist(members: dict[str, bytes], *, link: str | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        if link:
            member = tarfile.TarInfo(link)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    return out.getvalue()


def debian(members: dict[str, bytes]) -> bytes:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    parts = [("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), ("data.tar.xz", inner.getvalue())]
    raw = b"!<arch>\n"
    for name, content in parts:
        raw += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        raw += b"\n" * (len(content) % 2)
    return raw


def package_of(folder: Path, name: str, raw: bytes, inside: str, *parts: str) -> corpora.Package:
    (folder / name).write_bytes(raw)
    return corpora.Package("p-1", name, hashlib.sha256(raw).hexdigest(), inside, parts, f"get {name}")


def files_below(target: Path) -> dict[str, bytes]:
    return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}


def test_unpacking_skips_links_hidden_files_and_outside_paths(tmp_path: Path) -> None:
    members = {"p-1/docs/a.rst": b"a", "p-1/docs/.b": b"b", "p-1/c.py": b"c", "p-1/docs/../../d": b"d", "/e": b"e"}
    package = package_of(tmp_path, "p-1.tar.gz", sdist(members, link="p-1/docs/f"), "p-1", "docs")

    corpora.unpack((package,), tmp_path, tmp_path / "out")

    assert files_below(tmp_path / "out") == {"p-1/docs/a.rst": b"a"}


def test_manual_pages_are_extracted_and_decompressed(tmp_path: Path) -> None:
    page = gzip.compress(b".TH A 1\n")
    raw = debian({"./usr/share/man/man1/a.1.gz": page, "./usr/bin/a": b"a"})
    package = package_of(tmp_path, "p_1.deb", raw, "usr/share/man")

    corpora.unpack((package,), tmp_path, tmp_path / "out")

    assert files_below(tmp_path / "out") == {"p-1/man1/a.1": b".TH A 1\n"}


def test_page_that_expands_too_far_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "LARGEST", 1_000)
    package = package_of(tmp_path, "p_1.deb", debian({"./man/a.1.gz": gzip.compress(b"a" * 2_000)}), "man")

    with pytest.raises(corpora.PackageError, match=r"a\.1\.gz has more than 1000 bytes"):
        corpora.unpack((package,), tmp_path, tmp_path / "out")


def test_missing_or_wrong_packages_are_all_reported_before_writing(tmp_path: Path) -> None:
    package = package_of(tmp_path, "p-1.tar.gz", sdist({"p-1/a": b"a"}), "p-1")
    other = package._replace(sha256="0" * 64)
    absent = package._replace(file="q-2.tar.gz", get="get q")

    with pytest.raises(corpora.PackageError) as raised:
        corpora.unpack((package, other, absent), tmp_path, tmp_path / "out")

    differs, missing = str(raised.value).splitlines()
    assert "p-1.tar.gz has the sha256" in differs
    assert missing.endswith("q-2.tar.gz does not exist. Run: get q")
    assert not (tmp_path / "out").exists()


def test_command_reports_missing_packages_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["--code", str(tmp_path)]) == 1
    assert "httpx-0.28.1.tar.gz does not exist. Run: pip download" in capsys.readouterr().err


def test_command_compares_a_collection_and_lists_worst_queries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = compare.read_questions("code")[3:6]
    question = questions[0]
    path = question.grades[0].path
    folder, _, name = path.partition("/")
    text = "\n" * (question.grades[0].lines.first - 1) + "class NetRCAuth: pass\n" * 40
    package = package_of(tmp_path, "p.tar.gz", sdist({f"{folder}/{name}": text.encode()}), folder)
    monkeypatch.setattr(compare, "read_questions", lambda name: questions)
    monkeypatch.setitem(compare.COLLECTIONS, "code", (package._replace(folder=folder),))

    assert compare.main(["--code", str(tmp_path), "--parsers", "text,text"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert compare.main(["--code", str(tmp_path), "--parsers", "text,text", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)[0]

    assert table[0] == "code, 3 questions"
    assert "difference +0.0000 [+0.0000, +0.0000] p=1.000, 0 better, 0 worse, 3 equal" in table[4]
    assert [line.split()[4] for line in table[5:]] == ["c05", "c06", "c04"]
    assert found["before"]["scores"] == found["after"]["scores"]
    assert found["before"]["scores"][question.id] > 0


def test_uniquely_named_items_are_queried_in_three_ways(tmp_path: Path) -> None:
    body = "\n".join(f"    line{n} = {n}" for n in range(6))
    (tmp_path / "a.py").write_text(f'def readLines_of():\n    """Read the lines of it."""\n{body}\ndef f(): 0\n')
    (tmp_path / "b.py").write_text(f"def f():\n{body}\nclass Twice:\n{body}\n")
    (tmp_path / "c.py").write_text(f"class Twice:\n{body}\n")
    (tmp_path / "test_a.py").write_text(f"def test_it_all():\n{body}\n")

    found = {each.way: each.questions for each in known.questions_of(tmp_path)}

    assert {way: [each.text for each in questions] for way, questions in found.items()} == {
        "name": ["readLines_of", "f"],
        "words of the name": ["read lines of"],
        "docstring": ["Read the lines of it."],
    }
    assert found["name"][0].grades == (span("a.py", 1, 8, grade=1),)
