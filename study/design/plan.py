"""From a condition's settings to seats and minds: what a round's episode is made of. Imports no models."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.agent import Agent
from kitchen.contract.world import Json, SettingsError
from kitchen.play.creating import MindPlan
from kitchen.registry.agents import get_agent, make_agent, plays
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world

NOBODY = "none"
"""The kind of co-player of a condition in which the participant plays alone."""


def mind_plans(*, coplayer: str, coplayer_settings: Mapping[str, Json], teammates: int) -> list[MindPlan]:
    """Who plays beside the person in seat 0: one mind that commands all other seats, or nobody."""
    if coplayer == NOBODY or not teammates:
        return []
    return [MindPlan(coplayer, tuple(range(1, teammates + 1)), dict(coplayer_settings))]


def mind_of(*, coplayer: str, coplayer_settings: Mapping[str, Json], teammates: int) -> Agent | None:
    """The mind behind the teammates; None where the participant plays alone. SettingsError or
    UnknownNameError for one that cannot be made."""
    if coplayer == NOBODY or not teammates:
        return None
    return make_agent(coplayer, coplayer_settings)


def condition_cautions(
    *, coplayer: str, coplayer_settings: Mapping[str, Json], teammates: int
) -> tuple[str, ...]:
    """What will keep the co-player from playing as it is set up, in whole sentences; nothing for one that
    cannot be played at all (`condition_check` says so)."""
    try:
        mind = mind_of(coplayer=coplayer, coplayer_settings=coplayer_settings, teammates=teammates)
    except (SettingsError, UnknownNameError):
        return ()
    return mind.cautions() if mind else ()


def condition_remarks(
    *, coplayer: str, coplayer_settings: Mapping[str, Json], teammates: int
) -> tuple[str, ...]:
    """What of the co-player's settings comes to nothing, likewise."""
    try:
        mind = mind_of(coplayer=coplayer, coplayer_settings=coplayer_settings, teammates=teammates)
    except (SettingsError, UnknownNameError):
        return ()
    return mind.remarks() if mind else ()


def condition_refusal(*, coplayer: str, coplayer_settings: Mapping[str, Json], teammates: int) -> None:
    """SettingsError, in words, for settings that are not to be chosen any more; who has them plays by them.
    SettingsError or UnknownNameError for a co-player that cannot be made."""
    mind = mind_of(coplayer=coplayer, coplayer_settings=coplayer_settings, teammates=teammates)
    if mind and (why := mind.refusal()):
        raise SettingsError(why)


def condition_check(
    *,
    world: str,
    settings: Mapping[str, Json],
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
) -> None:
    """SettingsError or UnknownNameError, in words, if this condition cannot be played."""
    kind = get_world(world)
    if not kind.min_seats <= teammates + 1 <= kind.max_seats:
        fitting = f"{kind.min_seats - 1} to {kind.max_seats - 1}"
        raise SettingsError(
            f"teammates: {teammates} do not fit, {world} takes {fitting} beside the participant"
        )
    kind.create(seats=teammates + 1, settings=settings)
    if (coplayer == NOBODY) != (teammates == 0):
        raise SettingsError("teammates: choose a co-player and at least one teammate, or neither")
    if coplayer != NOBODY:
        if not plays(get_agent(coplayer), world):
            raise SettingsError(f"co-player: {coplayer} cannot play {world}")
        make_agent(coplayer, coplayer_settings)
