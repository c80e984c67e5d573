"""Why a command was not carried out, in words. Plain Python, no Django."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.words.speech import marked


def telling(reasons: Sequence[str]) -> list[str]:
    """Without those that say nothing more: how it looks at a place where the robot is not, and what a full
    place would make."""
    if "not_at_location" in reasons:
        return [reason for reason in reasons if reason not in _OF_PLACE]
    return [reason for reason in reasons if reason != "would_waste" or "at_capacity" not in reasons]


_OF_PLACE = frozenset(("location_busy", "not_open", "empty", "would_waste", "at_capacity", "not_a_dish_here"))


REFUSALS: dict[str, str] = {
    "not_at_location": marked("{place} was too far away: go there first."),
    "agent_busy": marked("The robot's hands were still busy with a tool."),
    "hands_full": marked("The robot was already holding something."),
    "hands_empty": marked("The robot was not holding anything."),
    "location_busy": marked("{place} was still busy."),
    "not_open": marked("{place} was closed: it opens once it has been used and a product is inside."),
    "empty": marked("There was nothing at {place_mid}."),
    "not_base_ingredient": marked("Storage does not stock {item}: it has to be cooked."),
    "not_a_dish_here": marked("Only dishes that guests order here go on {place_mid}."),
    "would_waste": marked("It does not go with {place_mid} now: nothing on the menu would come of it."),
    "at_capacity": marked("{place} was full."),
    "unknown_agent": marked("There is no such robot in this kitchen."),
    "unknown_location": marked("There is no such place in this kitchen."),
    "unknown_item": marked("There is no such item in this kitchen."),
    "unknown_verb": marked("Robots do not know how to do that."),
    "wrong_arguments": marked("The command was not complete."),
    "duplicate_agent": marked("The robot had already been given a command in this step."),
}
"""Why something was refused, by reason code. `{place}` starts a sentence, `{place_mid}` stands within one."""
_REFUSALS_OF = {
    ("would_waste", "activate"): marked("What is inside {place_mid} is no complete recipe yet."),
    ("unknown_item", "get"): marked("There was no {item} at {place_mid}."),
}
_STILL_BUSY = marked("{place} was still busy ({wait}).")
_JUST_THEN = marked("It was not possible just then.")


def sentence(reason: str, verb: str, busy: int) -> str:
    """What is said of a reason, to be looked up and filled in; `busy` is how many steps the place still is
    so."""
    if reason == "location_busy" and busy:
        return _STILL_BUSY
    return _REFUSALS_OF.get((reason, verb)) or REFUSALS.get(reason, _JUST_THEN)
