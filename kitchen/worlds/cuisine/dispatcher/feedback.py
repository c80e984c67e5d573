"""Feedback on the last step, in words, with advice (paper, sections 4.1 and 4.2; Table 7 without it)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.contract.world import Event
from kitchen.worlds.cuisine.dispatcher.lookahead import Scene
from kitchen.worlds.cuisine.dispatcher.moment import Moment, agent_name, is_useful
from kitchen.worlds.cuisine.dispatcher.spelling import spell
from kitchen.worlds.cuisine.dispatcher.wording import refusal


def feedback(moment: Moment, remembered: Sequence[str]) -> list[str]:
    """What to tell before this step: what was wrong with the last reply (`remembered`), what the kitchen
    refused or served, and advice on what stands in the way now. Empty where all is well."""
    lines = [*remembered, *_late(moment), *_refused(moment), *_news(moment.events), *_advice(moment)]
    return list(dict.fromkeys(lines))


def _late(moment: Moment) -> Iterator[str]:
    """What came too late to be followed, for the kitchen as it was then."""
    for late in moment.late:
        given = ", ".join(spell(seat, command) for seat, command in late.commands.items())
        said = f" ({given})" if given else ""
        yield f"Your reply for step {late.step} came too late and was not followed{said}: see the state now."


def _refused(moment: Moment) -> Iterator[str]:
    """Commands of our agents that passed the look-ahead and were refused all the same."""
    scene = Scene(moment.brief, moment.observation)
    for event in moment.events:
        if event.kind == "refused" and event.seat in moment.team.mine:
            command = tuple(str(part) for part in event.data["command"])
            seat, place = int(event.seat or 0), scene.place(command)
            yield refusal(seat, command, event.data["reasons"], scene.agent(seat), place).text


def _news(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event.kind in _NEWS:
            yield _NEWS[event.kind].format(dish=event.data.get("dish", ""))


_NEWS = {
    "completed": "{dish} was served: an order is complete.",
    "failed": "An order of {dish} ran out before it was served.",
    "all_idle": "No agent did anything in the last step.",
}


def _advice(moment: Moment) -> Iterator[str]:
    """Hands that are full of what nobody can use stay full until it is thrown away."""
    storage = next(id for id, kind in moment.brief["locations"].items() if kind == "storage")
    for seat in moment.team.mine:
        agent = moment.observation["agents"][seat]
        if agent["holds"] and not is_useful(agent["holds"], moment.brief):
            verb = "put" if agent["at"] == storage else "goto"
            yield (
                f"{agent_name(seat)} holds {agent['holds']}, which no recipe here needs: bring it to "
                f"{storage} and put it there; next {spell(seat, (verb, storage))}."
            )
