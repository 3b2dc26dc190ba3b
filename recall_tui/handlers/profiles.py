"""Keeping settings under a name, and taking them up again."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.errors import ConfigError
from recall_tui.handlers.holder import Holder
from recall_tui.home import profiles
from recall_tui.home.profiles import Profile
from recall_tui.state import weighing

if TYPE_CHECKING:
    from recall_tui.screens.choices import ProfileChoice


class ProfileActions(Holder):
    """The part of the group Weights that has to do with profiles."""

    async def action_choose_profile(self) -> None:
        """Choose among the kept settings."""
        from recall_tui.screens.choices import ProfilesScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        place = self._profiles()
        if place is not None:
            chosen = self.session.profile.name if self.session.profile else profiles.DEFAULT
            await self.push_screen(ProfilesScreen(profiles.load(place), chosen), partial(self._chosen, place))

    async def action_keep_profile(self) -> None:
        """Ask under which name to keep what was moved."""
        place = self._profiles()
        if place is None:
            return
        if not self.session.tweaks:
            self.notify("Nothing is moved away from recall.toml, so there is nothing to keep.")
            return
        name = self.session.profile.name if self.session.profile else ""
        named = partial(self._named, place)
        await self.prompt("Keep the settings", name, "a name, then Enter", profiles.wrong_name, named)

    async def _named(self, place: Path, name: str | None) -> None:
        if name is None:
            return
        profile = Profile(name, dict(self.session.tweaks))
        if any(each.name == name and each != profile for each in profiles.load(place)):
            question = f"There is a profile {name} with other settings. Replace it?"
            await self.confirm("Keep the settings", question, partial(self._keep, place, profile))
        else:
            self._keep(place, profile, True)

    def _keep(self, place: Path, profile: Profile, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        try:
            profiles.keep(place, profile)
        except ConfigError as error:
            self.warn(error.message)
        else:
            self.become(self.session._replace(profile=profile))
            self.notify(f"Kept: {profile.name}", markup=False)

    async def _chosen(self, place: Path, choice: ProfileChoice | None) -> None:
        if choice is None:
            return
        profile = choice.profile
        if choice.act == "delete" and profile is not None:
            question = f"Delete the profile {profile.name}? The settings on the screen stay as they are."
            await self.confirm("Delete a profile", question, partial(self._drop, place, profile))
            return
        settings = {} if profile is None else profile.tweaks
        self.move(weighing.dressed(self.session._replace(profile=profile), settings))

    def _drop(self, place: Path, profile: Profile, is_agreed: bool | None) -> None:
        if not is_agreed:
            return
        try:
            profiles.drop(place, profile.name)
        except OSError as error:
            self.warn(f"{profile.name} cannot be deleted: {error.strerror}")
            return
        if self.session.profile is not None and self.session.profile.name == profile.name:
            self.become(self.session._replace(profile=None))
        self.notify(f"Deleted: {profile.name}", markup=False)

    def _profiles(self) -> Path | None:
        place = profiles.folder(os.environ)
        if place is None:
            self.warn("Without a home folder there is no place for profiles.")
        return place
