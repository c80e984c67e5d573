"""Read plain sentences to the assistant that plays by fixed rules: *bring me an egg*, *cut the tomato*.

The assistant brings raw ingredients, slices, mash and dishes to a shared counter. `data/spoken_names.toml`
holds the names of things in three languages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from kitchen.agents.plain_sentences.sentence_clauses import (
    AVOID,
    DOING,
    HALT,
    ORDER,
    TALK,
    UNCLEAR,
    Clause,
    read_clauses,
)
from kitchen.agents.plain_sentences.sentence_words import SentenceWords
from kitchen.contract.data_files import read_toml
from kitchen.worlds.collab_overcooked.food_rules import BLENDER, BOARD, DATA, DISH, food_rules
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    Macros,
    bring_mash,
    bring_raw,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT

CUTS, BLENDS = "chop", frozenset({"grind", "mix"})
FETCHES = frozenset({"", "fetch", "put", "make", "do"})
"""Verbs for cutting, for blending, and for bringing things as they are."""


@dataclass(frozen=True, slots=True)
class SpokenRequests:
    """What a message in words asks of the assistant."""

    units: tuple[Macros, ...] = ()
    """What it shall do, as commands for each thing."""
    unwanted: frozenset[str] = frozenset()
    """Things that it shall not bring."""
    stops: bool = False
    """True if it shall drop everything."""
    kind: str = ""
    """DOING, TALK or UNCLEAR, if the message asks for nothing else."""


def spoken_requests(text: str) -> SpokenRequests:
    """Return what a message asks of the assistant. A message with an unclear order asks for nothing."""
    clauses = [clause for clause in read_clauses(_words().read(text)) if _is_for_assistant(clause)]
    ordered = [list(_units(clause)) for clause in clauses if clause.kind == ORDER]
    unwanted = frozenset(thing for one in clauses if one.kind == AVOID for thing in one.things)
    stops = any(clause.kind == HALT for clause in clauses)
    if all(ordered) and (ordered or unwanted or stops):
        return SpokenRequests(tuple(unit for units in ordered for unit in units), unwanted, stops)
    kinds = [clause.kind for clause in clauses]
    if DOING in kinds:
        return SpokenRequests(kind=DOING)
    return SpokenRequests(kind=UNCLEAR if ordered or UNCLEAR in kinds else TALK)


def _is_for_assistant(clause: Clause) -> bool:
    return not clause.players or ASSISTANT in clause.players


def _units(clause: Clause) -> Iterator[Macros]:
    """Yield the commands for each thing that an order names; nothing if the assistant cannot do it."""
    things = [thing for thing in clause.things if thing not in (BOARD, BLENDER)]
    places: Collection[str] = set(clause.things) - set(things)
    for thing in things:
        made_by, _, item = thing.rpartition(":")
        verb = made_by or (CUTS if BOARD in places else "grind" if BLENDER in places else clause.verb)
        if unit := _unit(verb, item):
            yield unit
        else:
            return


def _unit(verb: str, item: str) -> Macros:
    """Return the commands for one thing; empty if the assistant cannot do it."""
    made = food_rules().things
    if item == DISH:
        return BRING_DISH if verb in FETCHES else ()
    if verb == CUTS and f"{item}_slices" in made:
        return bring_slices(item)
    if verb in BLENDS and f"mashed_{item}" in made:
        return bring_mash(item)
    return bring_raw(item) if verb in FETCHES and item in food_rules().raw else ()


@cache
def _words() -> SentenceWords:
    """Read the names of things. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "spoken_names.toml")
    named = source.read(TypeAdapter(Mapping[str, Mapping[str, str]]), values)
    return SentenceWords(
        {
            language: [(name, code) for code, names in things.items() for name in names.split("|")]
            for language, things in named.items()
        }
    )
