"""Read plain sentences to the assistant that plays by fixed rules: *bring me an egg*, *cut the tomato*.

The assistant brings raw ingredients, slices, mash and dishes to a shared counter. `data/spoken_names.toml`
holds the names of things in three languages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from kitchen.agents.plain_sentences.sentence_clauses import (
    AVOID,
    DOING,
    HALT,
    HELP,
    OFFER,
    ORDER,
    QUESTION,
    TALK,
    UNCLEAR,
    Clause,
    read_clauses,
)
from kitchen.agents.plain_sentences.sentence_words import SentenceWords, units_of
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
TOOLS = {CUTS: BOARD, **dict.fromkeys(BLENDS, BLENDER)}
"""What the assistant uses for each of its verbs of work."""
SEVERAL = frozenset(
    {
        *"23456789两二三四五",
        "two",
        "three",
        "four",
        "five",
        "several",
        "dos",
        "tres",
        "cuatro",
        "varios",
        "varias",
    }
)
"""Words for more than one."""


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
    """DOING, HELP, TALK or UNCLEAR, if the message asks for nothing else."""
    is_several: bool = False
    """True if it asks for more than one of a thing. The assistant brings one at a time."""

    def followed_by(self, later: SpokenRequests) -> SpokenRequests:
        """Return what this message and a later one ask for together. The later one takes precedence."""
        units = () if later.stops else tuple(one for one in self.units if not brings(one, later.unwanted))
        kinds = [kind for kind in (UNCLEAR, DOING, HELP, TALK) if kind in (self.kind, later.kind)]
        return SpokenRequests(
            (*units, *later.units),
            self.unwanted | later.unwanted,
            self.stops or later.stops,
            kinds[0] if kinds else "",
            self.is_several or later.is_several,
        )


def brings(unit: Macros, things: Collection[str]) -> bool:
    """Return whether the commands for a thing need one of these things or tools."""
    return any(word in things for macro in unit for word in macro)


def all_requests(texts: Iterable[str]) -> SpokenRequests:
    """Return what several messages ask for together, in order."""
    asked = SpokenRequests()
    for text in texts:
        asked = asked.followed_by(spoken_requests(text))
    return asked


def spoken_requests(text: str) -> SpokenRequests:
    """Return what a message asks of the assistant. A message with an unclear order asks for nothing."""
    clauses = [clause for clause in read_clauses(_words().read(text)) if _is_for_assistant(clause)]
    ordered = [list(_units(clause)) for clause in clauses if clause.kind == ORDER]
    left = [_left(clause) for clause in clauses if clause.kind in (AVOID, OFFER)]
    unwanted = frozenset(thing for things in left for thing in things)
    stops = any(clause.kind == HALT for clause in clauses)
    kinds = [clause.kind for clause in clauses]
    unclear = any(clause.kind == AVOID and not _left(clause) for clause in clauses)
    if all(ordered) and not unclear and (ordered or unwanted or stops):
        several = bool(ordered) and any(unit in SEVERAL for unit in units_of(text))
        units = tuple(_once(unit for units in ordered for unit in units))
        return SpokenRequests(units, unwanted, stops, is_several=several)
    if ordered or unclear or (DOING not in kinds and {UNCLEAR, QUESTION} & set(kinds)):
        return SpokenRequests(kind=UNCLEAR)
    return SpokenRequests(kind=next((kind for kind in (DOING, HELP) if kind in kinds), TALK))


def _once(units: Iterable[Macros]) -> Iterator[Macros]:
    """Yield the units without those that bring the raw thing of an earlier one: *cut a potato and bring it*
    means one potato."""
    prepared: set[str] = set()
    for unit in units:
        raw = unit[0][1]
        if unit != bring_raw(raw) or raw not in prepared:
            yield unit
        prepared |= {raw} if unit != bring_raw(raw) else set()


def _left(clause: Clause) -> set[str]:
    """Return the things and tools that the assistant shall leave alone: what people forbid, or bring
    themselves."""
    if clause.verb not in FETCHES | BLENDS | {CUTS, "use"}:
        return set()
    things = {thing.rpartition(":")[2] for thing in clause.things}
    tool = TOOLS.get(clause.verb) if not things and clause.kind == AVOID else None
    return {tool} if tool else things


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
