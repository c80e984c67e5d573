"""What kitchens are made of: tools, recipes and ingredients, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tool:
    """A type of place: the storage, the serving table, or something that one cooks with."""

    code: str
    name: str
    role: str
    """`storage`, `serving` or `tool`."""
    capacity: int | None
    """Items it holds at most; None where there is no limit."""
    busy: int
    """Steps for which it cannot be touched once activated."""
    attended: bool
    """Whoever activates it is busy for as long."""
    always_open: bool
    """What lies inside can be taken at any time."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One product, the type of tool that makes it, and what it is made of (no item twice)."""

    product: str
    name: str
    tool: str
    ingredients: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """All ingredients, tools and recipes of a directory of data, each by its code."""

    ingredients: Mapping[str, str]
    """Base ingredient to its readable name, in the order of the file."""
    tools: Mapping[str, Tool]
    recipes: Mapping[str, Recipe]
    work: Mapping[str, int]
    """W of every product (spec: timing rule)."""

    def name_of(self, item: str) -> str:
        """The readable name of an ingredient or product."""
        return self.ingredients[item] if item in self.ingredients else self.recipes[item].name
