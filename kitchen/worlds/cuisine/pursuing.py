"""The way to each aim of CuisineWorld, robot by robot, as somebody goes who knows no plan. Plain Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kitchen.contract.agent import Pursuer, Pursuit, Situation
from kitchen.contract.world import FAIL, UNKNOWN, Aim, Command, Json
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE, aim_status
from kitchen.worlds.cuisine.leading import Way


class CuisinePursuer(Pursuer):
    """Part by part (`kitchen.worlds.cuisine.leading`). What is in hand and of no use is put away first."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> Pursuit:
        """The next command that is legal now; to wait where there is none."""
        brief, seen = situation.briefs[seat], situation.observations[seat]
        if not _can_read(aim, brief):
            return Pursuit(FAIL)
        status = aim_status(seen, brief, seat, aim, since)
        if status != UNKNOWN:
            return Pursuit(status)
        command = next_command(Way(brief, seen["locations"], seen["agents"][seat]), *aim)
        return Pursuit(UNKNOWN, command if command in situation.legal[seat] else None)


def _can_read(aim: Aim, brief: Mapping[str, Json]) -> bool:
    if len(aim) != 2:
        return False
    kind, what = aim
    known: Mapping[str, Collection[str]] = {
        FREE: brief["locations"],
        FETCH: [*brief["base"], *brief["recipes"]],
        SERVE: brief["dishes"],
        MAKE: brief["recipes"],
    }
    return what in known.get(kind, ())


def next_command(way: Way, kind: str, what: str) -> Command | None:
    """What a robot does next for an aim that it can have; None while there is nothing to do."""
    if kind == FREE:
        return way.free(what)
    if kind == FETCH:
        return way.fetch(what)
    if kind == SERVE and way.lies_served(what):
        return None
    return way.next(what).command


PURSUER = CuisinePursuer()
