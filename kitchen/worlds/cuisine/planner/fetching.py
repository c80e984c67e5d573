"""Fetching something that one is told to, from where it can be taken now."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json

NOOP: Command = ("noop",)


def source_of(situation: Situation, brief: Mapping[str, Json], item: str) -> str:
    """Where this can be taken from; empty where it cannot."""
    places: Mapping[str, str] = brief["locations"]
    if item in brief["base"]:
        return next(place for place, kind in places.items() if kind == "storage")
    seen = next(iter(situation.observations.values()))["locations"]
    ready = [
        place for place in places if list(seen[place]["items"]) == [item] and places[place] != "servingtable"
    ]
    return ready[0] if ready else ""


def fetch(agent: Mapping[str, Json], source: str, item: str, brief: Mapping[str, Json]) -> Command:
    """The next command of somebody with free hands who fetches it there."""
    if agent["busy"]:
        return NOOP
    if agent["at"] != source:
        return ("goto", source)
    return ("get", source, item) if brief["locations"][source] == "storage" else ("get", source)
