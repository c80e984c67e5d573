"""A hint in words: what would be good to do next, and what for. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command
from kitchen.worlds.cuisine.words import Words, brief_words, within


def hint(view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
    """`Hint: go to storage to fetch rice for the salmon sushi.`"""
    words, holds = brief_words(view.brief), view.observation["agents"][view.seat]["holds"]
    if command[0] == "noop":
        return "Hint: wait one step. Nothing better can be done just now."
    what = within(words.phrase(command))
    if holds:
        what = what.replace(" it ", f" the {words.mid(holds)} ", 1)
    return f"Hint: {what}{_why(words, command, aim, holds)}."


def _why(words: Words, command: Command, aim: Mapping[str, str], holds: str | None) -> str:
    """What it is good for."""
    dish = f" for the {words.mid(aim['dish'])}" if "dish" in aim else ""
    item = words.mid(aim["item"]) if aim.get("item") else ""
    if aim["do"] == "wait":
        return ", to be ready for the next order"
    if aim["do"] == "start" or command[0] == "activate":
        return f"{'' if command[0] == 'activate' else ' to use it'}{dish}"
    if command[0] == "goto" and not holds:
        return f" to fetch {item}{dish or ', which a guest waits for'}"
    if command[0] == "goto" and holds:
        return f" with the {words.mid(holds)}{dish}"
    if aim["do"] == "bring":
        return dish if command[0] == "put" else f" to bring it to {words.place(aim['to'])}{dish}"
    return ": a guest waits for it" if aim["do"] == "serve" else ": nobody needs it"
