"""A hint is typed unchanged or put in place of the mistake; then the command does what was intended."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.command_line import typed_here
from tests.e2e.test_readme import ROOT

WRONG = re.compile(r"‹(?P<word>[^›]*)›")
HINT = re.compile(r"^(?:hint: |fix   |.*  fix: |warning: W_\w+: .*; )(?P<hint>.+)$", re.M)
PUT = re.compile(r"^(?:did you mean |quote it: |leave out |use |remove one )?(?P<word>.+?)\??$")
LEFT_OUT = ("leave out ", "remove one ")

PROVOCATIONS = (
    "recall search deploy ‹--fitler› \"doc.tag = 'guide'\"",
    "‹recall serch› deploy",
    "recall search",
    "recall search deploy ‹--k many›",
    "recall search deploy --filter \"‹doc.tga› = 'guide'\"",
    'recall search deploy --filter "doc.tag = ‹guide›"',
    "recall search deploy --filter \"‹tag› = 'guide'\"",
    "recall search deploy --set ‹bm25_wieght›=.5",
    "recall search deploy --set embedding=local",
    "recall search deploy --set chunk_tokens=100",
    "recall search deploy -l ‹--csv›",
    "recall search deploy ‹--timeout never›",
    "recall search deploy ‹--snapshot 0000›",
    'recall query "SELECT doc.path FROM ‹chnk›"',
    "recall query \"SELECT doc.path FROM chunk USING ‹lexcal›('deploy')\"",
    'recall query "SELECT doc.path FROM chunk OPTION ‹fusoin› rrf"',
    "recall query \"SELECT doc.path FROM doc FILTER ‹doc.titel› = 'Retries'\"",
    "recall get ‹deploy.dm›",
    "recall get ‹docs/deploy.md:400›",
    "recall get zzzz",
    "recall whynot deploy --target ‹depoly.md›",
    "recall whynot deploy --target ‹docs/deploy.md:99›",
    "recall whynot deploy --target drafts/plan.md",
    "recall whynot deploy --target docs/old/deploy-2019.md",
    "recall whynot deploy --target notes/left.md",
    "recall whynot 'undo a deploy' --target docs/retries.md -n 3",
    "recall whynot idempotenzy --bm25 --target docs/retries.md",
    "recall whynot 'deploy undo' --target docs/deploy.md --budget-tokens 120",
    "recall add ‹docs/depoly.md›",
    "recall add nowhere",
    "recall add src --glob '*.rs'",
    "recall add notes/left.md --name notes/left.md",
    "echo hello | recall add -",
    "recall add tickets.jsonl --parser ‹jsnl›",
    "recall add notes ‹--meta year›",
    "echo hello | recall add - --name docs/deploy.md",
    "recall rm ‹retires.md›",
    "recall roots edit 9 --tag x",
    "recall init",
    "recall --store nowhere stats",
    "recall init elsewhere --embedding ‹lcoal›",
    "recall embedders ‹--prob›",
    "recall context deploy ‹--budget-tokens 0›",
    "recall context deploy --budget-tokens 300 ‹--counter hf:none.json›",
    "recall context deploy --budget-tokens 300 ‹--formt› xml",
    "recall explain deploy --chunk nope",
    "recall diff deploy ‹--b nope.toml›",
    "recall eval --queries queries.jsonl --qrels qrels.tsv --metrics ‹ndgc@10›",
    "recall eval --queries queries.jsonl --qrels qrels.tsv ‹--gate nope›",
    "recall report deploy ‹›",
    "recall backup tickets.db",
    "recall import other.jsonl",
    "recall rechunk --overlap-tokens 900",
    "recall rechunk ‹--chunk-tokens 0› --overlap-tokens 2",
    "recall rql ‹chekc› \"SELECT doc.path FROM chunk USING lexical('undo')\"",
    "recall doctor ‹--dup›",
    "recall stats ‹--size›",
    "recall trust --show --yes",
)
SET_UP = (
    "recall init --embedding hash",
    "recall add docs notes --tag guide",
    "recall add tickets.jsonl --parser jsonl",
    "recall rm docs/old/deploy-2019.md",
    "echo 'It came later, and speaks of no deploy.' > notes/left.md",
    "recall backup tickets.db",
    "recall init other --embedding hash && recall --store other add docs/deploy.md docs/retries.md",
    "echo changed >> docs/deploy.md && recall --store other sync && recall --store other export --out other.jsonl",
)


QUICK = [each for each in PROVOCATIONS if "--prob" not in each]
"""Every provocation except the one in which every model answers."""
PROBING = [each for each in PROVOCATIONS if each not in QUICK]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "harbour"
    shutil.copytree(ROOT / "examples" / "harbour", folder)
    for command in SET_UP:
        done = typed_here(command, folder)
        assert done.returncode == 0, command + "\n" + done.stdout
    return folder


def apply_hint(command: str, hint: str) -> str:
    """Return the command of the hint: the hint itself, or the wrong command with the hint in place of the mistake."""
    wrong = WRONG.search(command)
    if wrong is None:
        return hint
    word = PUT.match(hint)
    assert word is not None
    put = "" if hint.startswith(LEFT_OUT) else word["word"]
    return command[: wrong.start()] + put + command[wrong.end() :]


@pytest.mark.parametrize("commands", [QUICK, pytest.param(PROBING, marks=pytest.mark.slow)], ids=["quick", "probing"])
def test_printed_hint_works(
    commands: list[str], template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, command in enumerate(commands):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state{number}"))
        folder = tmp_path / f"{number}" / "harbour"
        shutil.copytree(template, folder)

        refused = typed_here(WRONG.sub(lambda wrong: wrong["word"], command), folder)

        hint = HINT.search(refused.stdout)
        assert hint is not None, f"{command}\n{refused.stdout}"
        again = apply_hint(command, hint["hint"])
        done = typed_here(again, folder)
        assert done.returncode == 0, f"{command}\n{refused.stdout}\n$ {again}\n{done.stdout}"
        assert "error:" not in done.stdout, command
