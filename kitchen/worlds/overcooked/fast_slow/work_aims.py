"""Define `WorkAims`: what an Overcooked cook does first, and what it leaves to its partner.

The aims belong to the agent `fast_and_slow`. Its fast mind follows them in every tick, and its slow mind
changes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.game_rules import DISH, FOOD

SERVE, POT = "serve", "pot"
KINDS_OF_WORK = (*sorted(FOOD), DISH, SERVE, POT)
"""Everything that a cook can do first or leave to its partner: bring an ingredient, fetch dishes, serve
soups, use the pots."""
WORK, WAIT, ASIDE = "work", "wait", "aside"
MODES = (WORK, WAIT, ASIDE)
"""Whether the cook works, stands still, or keeps out of its partner's way."""


@dataclass(frozen=True, slots=True)
class WorkAims:
    """The aims of one cook. Without any, it does whatever is needed most."""

    first: tuple[str, ...] = ()
    """Kinds of work that come before all others, the most important one first."""
    left: frozenset[str] = frozenset()
    """Kinds of work that it leaves to its partner."""
    mode: str = WORK

    @classmethod
    def read(cls, stored: Json) -> Self | None:
        """Return the aims in this JSON, which may come from a language model. Unknown kinds of work are left
        out. None if it has another form."""
        if not isinstance(stored, dict):
            return None
        first, left, mode = stored.get("first", []), stored.get("left", []), stored.get("mode", WORK)
        if not isinstance(first, list) or not isinstance(left, list) or mode not in MODES:
            return None
        wanted = tuple(dict.fromkeys(one for one in first if one in KINDS_OF_WORK and one != POT))
        return cls(wanted, frozenset(one for one in left if one in KINDS_OF_WORK) - {*wanted}, str(mode))

    def to_json(self) -> dict[str, Json]:
        """Return the aims as JSON, for the log and the agent's memory."""
        return {"first": list(self.first), "left": sorted(self.left), "mode": self.mode}

    def preferring(self, works: Iterable[str]) -> WorkAims:
        """Return the aims with these kinds of work before all others."""
        wanted = tuple(one for one in dict.fromkeys(works) if one != POT)
        return WorkAims((*wanted, *(one for one in self.first if one not in wanted)), self.left - {*wanted})

    def leaving(self, works: Collection[str]) -> WorkAims:
        """Return the aims without these kinds of work."""
        return WorkAims(tuple(one for one in self.first if one not in works), self.left | {*works})

    def only(self, works: Collection[str], food: Collection[str]) -> WorkAims:
        """Return the aims of a cook who does these kinds of work and leaves the others to its partner. `food`
        are the ingredients of the layout."""
        return self.preferring(works).leaving({*food, DISH, SERVE} - {*works})

    def in_mode(self, mode: str) -> WorkAims:
        """Return the same aims in another mode."""
        return replace(self, mode=mode)

    def in_layout(self, food: Collection[str]) -> WorkAims:
        """Return the aims without ingredients that the layout does not have."""
        there = {*food, DISH, SERVE, POT}
        first = tuple(one for one in self.first if one in there)
        return WorkAims(first, self.left & there, self.mode)


NO_AIMS = WorkAims()
WORK_OF_DEED: Mapping[str, str] = {"filled": DISH, "served": SERVE}
"""The kind of work of a counted action. For an ingredient that is put into a pot, it is the ingredient."""
