"""List the episodes that `make faults` plays, in every world.

They have people alone, one person with one to three agents of each kind, or two people, each with and without
a timer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from typing import Any

from kitchen.registry.agent_registry import agent_kinds
from kitchen.registry.world_registry import get_world, known_worlds
from kitchen.words.english_text import counted_noun

TIMER = 10.0
"""The time limit of a step in seconds, in every second group of episodes."""
MATES = (1, 2, 3)


def tables(count: int) -> Iterator[Mapping[str, Any]]:
    """Return this number of episodes as arguments of `books.table_laid`: all combinations without a timer,
    then all with one, and so on. If there are fewer episodes, their combinations are spread over all
    worlds."""
    companies = [company for world in known_worlds() for company in companies_in(world)]
    if count < len(companies):
        companies = [companies[number * len(companies) // count] for number in range(count)]
        yield from (
            {**company, "step_seconds": (None, TIMER)[number % 2]} for number, company in enumerate(companies)
        )
        return
    timed = (
        {**company, "step_seconds": step_seconds} for step_seconds in (None, TIMER) for company in companies
    )
    yield from islice(cycle(timed), count)


def in_words(table: Mapping[str, Any]) -> str:
    """Describe an episode: `cuisine, 2 people, 1 x planner, 10 s a step`."""
    mates = f", {table['mates']} x {table['kind']}" if table["mates"] else ""
    timer = f", {table['step_seconds']:g} s a step" if table["step_seconds"] else ""
    return f"{table['world']}, {counted_noun(table['people'], 'person', 'people')}{mates}{timer}"


def companies_in(world: str) -> Iterator[dict[str, Any]]:
    """Return every combination of people and agents for which this world has seats."""
    rules = get_world(world)
    for people in (1, 2):
        for kind, mates in [("", 0), *((kind, mates) for mates in MATES for kind in agent_kinds(world))]:
            if rules.min_seats <= people + mates <= rules.max_seats and (people == 1 or mates < 2):
                yield {"world": world, "people": people, "mates": mates, "kind": kind}
