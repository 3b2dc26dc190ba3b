"""Settings kept under a name, in files of the form of recall.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from recall_core.config import Config, load
from recall_tui.home import profiles
from recall_tui.home.profiles import Profile, drop, folder, heading, keep, wrong_name
from recall_tui.state.records import WeightsState
from recall_tui.state.session import Session
from recall_tui.state.weighing import nudged, reset, turned

RANKS = Profile("ranks", {"fusion": "rrf", "rrf_k": 20, "sparse_recall": False})


def test_what_is_kept_comes_back_by_name_and_is_a_config_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "state" / "profiles"
    keep(place, RANKS)
    keep(place, Profile("all words", {"match": "all", "vector_weight": 0.25}))

    assert profiles.load(place) == [Profile("all words", {"match": "all", "vector_weight": 0.25}), RANKS]
    assert load(place / "ranks.toml").rrf_k == 20


def test_a_profile_kept_again_has_its_new_settings_alone(tmp_path: Path) -> None:
    keep(tmp_path, RANKS)
    keep(tmp_path, Profile("ranks", {"match": "all"}))

    assert [dict(each.tweaks) for each in profiles.load(tmp_path)] == [{"match": "all"}]
    drop(tmp_path, "ranks")
    drop(tmp_path, "ranks")
    assert profiles.load(tmp_path) == []


def test_a_profile_that_cannot_be_kept_again_stays_as_it_was(tmp_path: Path) -> None:
    keep(tmp_path, RANKS)
    again = (
        "import resource, sys; from pathlib import Path; from recall_core.errors import ConfigError\n"
        "from recall_tui.home.profiles import Profile, keep\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # as on a full disk\n"
        "try: keep(Path(sys.argv[1]), Profile('ranks', {'match': 'all'}))\n"
        "except ConfigError as error: sys.exit(error.code)"
    )

    done = subprocess.run([sys.executable, "-c", again, tmp_path], stderr=subprocess.PIPE, text=True, check=False)

    assert done.stderr == "settings_unwritable\n"
    assert profiles.load(tmp_path) == [RANKS]
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.toml"]


def test_a_file_without_settings_is_passed_over(tmp_path: Path) -> None:
    for text in ["fusion = 'sum'", "nonsense", "colour = 'red'", "\x00"]:
        (tmp_path / "broken.toml").write_text(text)

        assert profiles.load(tmp_path) == [], text


def test_a_name_that_no_file_should_have_is_refused() -> None:
    for name in ["", "default", "Default", "../x", "a/b", ".hidden", "a.", "_x", "x" * 41]:
        assert wrong_name(name), name


def test_a_plain_name_will_do() -> None:
    for name in ["a", "meaning first", "v1.2-rc", "größer"]:
        assert wrong_name(name) == "", name


def test_the_heading_has_a_star_while_something_is_moved_away_from_the_profile() -> None:
    session = Session(weights=WeightsState(saved=Config()))
    chosen = (base := turned(session, "fusion"))._replace(
        weights=base.weights._replace(profile=Profile("ranks", {"fusion": "rrf"}))
    )

    assert [heading(each) for each in (session, nudged(session, 5))] == ["default", "default*"]
    assert [heading(each) for each in (chosen, nudged(chosen, 5), reset(chosen))] == ["ranks", "ranks*", "ranks*"]


def test_without_a_home_there_is_no_place() -> None:
    assert folder({}) is None
    assert folder({"XDG_STATE_HOME": "/state"}) == Path("/state/recall/profiles")


def test_a_pipe_and_a_folder_are_no_profiles(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()

    assert profiles.load(tmp_path) == []
