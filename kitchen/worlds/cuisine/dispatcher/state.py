"""The present state of the kitchen in words, as the model gets it at every step (paper, section 4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from kitchen.contract.world import Json
from kitchen.words.counting import and_list, counted
from kitchen.worlds.cuisine.dispatcher.moment import Moment, agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import spell


def describe(moment: Moment) -> str:
    """Level, step, orders, agents, locations, dishes completed, and what others do in this step."""
    return "\n".join(
        [*_orders(moment), *_agents(moment), *_locations(moment), *_served(moment), *_others(moment)]
    )


def _orders(moment: Moment) -> Iterator[str]:
    seen = moment.observation
    yield f"Level {moment.brief['level']}, step {seen['step'] + 1} of {seen['max_steps']}."
    yield "Orders, most urgent first:" if seen["orders"] else "Orders: none now."
    for order in seen["orders"]:
        yield f"- {order['dish']}, {counted(order['life'], 'step')} left"


def _agents(moment: Moment) -> Iterator[str]:
    yield "Agents:"
    for seat, agent in enumerate(moment.observation["agents"]):
        name = moment.team.named(seat)
        yield f"- {name}: at {agent['at']}; hold {agent['holds'] or 'nothing'}; occupy {_busy(agent)}"


def _locations(moment: Moment) -> Iterator[str]:
    yield "Locations:"
    for id, place in moment.observation["locations"].items():
        if moment.brief["locations"][id] == "storage":
            yield f"- {id}: inside every base ingredient"
        else:
            yield f"- {id}: inside {and_list(place['items']) or 'nothing'}; occupy {_busy(place)}"


def _busy(thing: Mapping[str, Json]) -> str:
    return f"for {counted(thing['busy'], 'step')}" if thing["busy"] else "no"


def _served(moment: Moment) -> Iterator[str]:
    counts: Counter[str] = Counter(moment.observation["delivered"])
    dishes = [f"{dish} x{number}" if number > 1 else dish for dish, number in counts.items()]
    yield f"Dishes completed: {', '.join(dishes) or 'none'}. Orders failed: {moment.observation['failed']}."


def _others(moment: Moment) -> Iterator[str]:
    """Their commands of this step, which run before ours; who has none yet is named too."""
    for seat, command in moment.commanded.items():
        alone = " (not to be commanded now)" if seat in moment.team.settled else ""
        name = f"{moment.team.named(seat)}{alone}"
        yield f"{name} does in this step, before your agents: {spell(seat, command)}"
    for seat in moment.team.people:
        if seat not in moment.commanded:
            yield f"What {agent_name(seat)} (a person) does in this step is not known yet."
