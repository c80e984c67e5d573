"""Why a command was not carried out, in words for the model, each with what to do instead.

Names stay codes (`pot0`, `cookedRice`), because the model has to write them. The sentences tell of the moment
at which the command would have run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kitchen.contract.world import Command, Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine.dispatcher.moment import agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import spell
from kitchen.worlds.cuisine.refusals import telling
from kitchen.worlds.cuisine.states import AgentState, PlaceState

VERB_FORMS: Mapping[str, str] = {
    "goto": "goto_AGENT_LOCATION",
    "get": "get_AGENT_LOCATION_ITEM",
    "put": "put_AGENT_LOCATION",
    "activate": "activate_AGENT_LOCATION",
    "noop": "noop_AGENT",
}
"""Every command as it is spelled in free text."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that was wrong with a reply: `code` for the log, `text` for the model."""

    code: str
    text: str
    seat: int | None = None
    command: Command = ()

    def to_json(self) -> dict[str, Json]:
        """For the decision's note."""
        return {"code": self.code, "seat": self.seat, "command": list(self.command), "text": self.text}


def refusal(
    seat: int, command: Command, reasons: Iterable[str], agent: AgentState | None, place: PlaceState | None
) -> Fault:
    """The fault of a command that the rules refuse, given the agent and the place at that moment."""
    codes = telling(tuple(reasons))
    facts = _facts(seat, command, agent, place)
    parts = [_sentence(code, command).format(**facts) for code in codes]
    text = f"{agent_name(seat)} could not {spell(seat, command)}: {'; '.join(parts)}."
    return Fault(" ".join(codes), text, seat, command)


def _facts(seat: int, command: Command, agent: AgentState | None, place: PlaceState | None) -> dict[str, str]:
    where = command[1] if len(command) > 1 else "that place"
    return {
        "agent": agent_name(seat),
        "verb": command[0] if command else "",
        "place": where,
        "item": command[2] if len(command) > 2 else "that",
        "at": agent.at if agent else "nowhere",
        "held": (agent.holds if agent else None) or "nothing",
        "rest": counted(agent.busy if agent else 0, "more step"),
        "busy": counted(place.busy if place else 0, "more step"),
        "inside": " and ".join(place.items if place else ()) or "nothing",
        "verbs": ", ".join(VERB_FORMS),
        "form": VERB_FORMS.get(command[0] if command else "", ""),
        "go": spell(seat, ("goto", where)),
    }


def _sentence(code: str, command: Command) -> str:
    verb = command[0] if command else ""
    return _OF_VERB.get((code, verb)) or _SENTENCES.get(code, "it could not be carried out")


_SENTENCES = {
    "not_at_location": "{agent} stands at {at}, not at {place}; first {go}",
    "agent_busy": "{agent} is occupied for {rest} and can only noop",
    "hands_full": "{agent} already holds {held}; it has to put that down first",
    "hands_empty": "{agent} holds nothing, so there is nothing to put",
    "location_busy": "{place} is occupied for {busy}; wait, or use another location",
    "not_open": "nothing can be taken from {place} before what lies inside ({inside}) has been activated",
    "empty": "nothing lies in {place}",
    "not_base_ingredient": "the storage does not have {item}, it has to be made from base ingredients",
    "not_a_dish_here": "{held} is no dish that is ordered here, and only such dishes go on {place}",
    "would_waste": "{held} does not go into {place} with {inside} inside: no recipe here needs that",
    "at_capacity": "{place} is full; take something out first",
    "unknown_agent": "there is no {agent}",
    "unknown_location": "there is no location {place}",
    "unknown_item": "there is no item {item} at {place}",
    "unknown_verb": "{verb} is no command; there are {verbs}",
    "wrong_arguments": "the command is not complete, write {form}",
}

_OF_VERB = {
    ("would_waste", "activate"): "{inside} in {place} is not exactly what a recipe needs",
    ("hands_full", "activate"): "{agent} holds {held}, and activating needs empty hands",
    ("wrong_arguments", "get"): "the item is missing, write {form}",
    ("wrong_arguments", "noop"): "write {form} and nothing more",
}
