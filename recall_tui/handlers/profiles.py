"""Keeping settings under a name, and taking them up again."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.errors import ConfigError
from recall_tui.home import profiles
from recall_tui.home.profiles import Profile
from recall_tui.state import weighing

if TYPE_CHECKING:
    from recall_tui.host import Host
    from recall_tui.screens.choices import ProfileChoice


async def choose_profile(app: Host) -> None:
    """Choose among the kept settings."""
    from recall_tui.screens.choices import ProfilesScreen  # noqa: PLC0415 - a dialog may wait until it is opened

    place = _profiles(app)
    if place is not None:
        chosen = app.session.weights.profile.name if app.session.weights.profile else profiles.DEFAULT
        await app.push_screen(ProfilesScreen(profiles.load(place), chosen), partial(_chosen, app, place))


async def keep_profile(app: Host) -> None:
    """Ask under which name to keep what was moved."""
    place = _profiles(app)
    if place is None:
        return
    if not app.session.weights.tweaks:
        app.notify("No setting is changed, so there is no profile to save.")
        return
    name = app.session.weights.profile.name if app.session.weights.profile else ""
    named = partial(_named, app, place)
    await app.prompt("Save a profile", name, "a name, then Enter", profiles.wrong_name, named)


async def _named(app: Host, place: Path, name: str | None) -> None:
    if name is None:
        return
    profile = Profile(name, dict(app.session.weights.tweaks))
    if any(each.name == name and each != profile for each in profiles.load(place)):
        question = f"There is a profile {name} with other settings. Replace it?"
        await app.confirm("Save a profile", question, partial(_keep, app, place, profile))
    else:
        _keep(app, place, profile, True)


def _keep(app: Host, place: Path, profile: Profile, is_agreed: bool | None) -> None:
    if not is_agreed:
        return
    try:
        profiles.keep(place, profile)
    except ConfigError as error:
        app.warn(error.message)
    else:
        app.become(app.session._replace(weights=app.session.weights._replace(profile=profile)))
        app.notify(f"Profile saved: {profile.name}", markup=False)


async def _chosen(app: Host, place: Path, choice: ProfileChoice | None) -> None:
    if choice is None:
        return
    profile = choice.profile
    if choice.act == "delete" and profile is not None:
        question = f"Delete the profile {profile.name}? The settings on the screen stay as they are."
        await app.confirm("Delete a profile", question, partial(_drop, app, place, profile))
        return
    settings = {} if profile is None else profile.tweaks
    app.move(weighing.dressed(app.session._replace(weights=app.session.weights._replace(profile=profile)), settings))
    app.notify(f"Loaded: {profiles.DEFAULT if profile is None else profile.name}", markup=False)


def _drop(app: Host, place: Path, profile: Profile, is_agreed: bool | None) -> None:
    if not is_agreed:
        return
    try:
        profiles.drop(place, profile.name)
    except OSError as error:
        app.warn(f"{profile.name} cannot be deleted: {error.strerror}")
        return
    if app.session.weights.profile is not None and app.session.weights.profile.name == profile.name:
        app.become(app.session._replace(weights=app.session.weights._replace(profile=None)))
    app.notify(f"Profile deleted: {profile.name}", markup=False)


def _profiles(app: Host) -> Path | None:
    place = profiles.folder(os.environ)
    if place is None:
        app.warn("There is no home folder to save profiles in.")
    return place
