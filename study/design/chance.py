"""What chance brings into the episodes of some worlds, in words: each world says what it draws."""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.world import World
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world


def drawn(worlds: Iterable[str]) -> str:
    """`waves`, `waves and events`: of the worlds that are there; `events` where there is none."""
    return " and ".join(dict.fromkeys(world.drawn for world in _there(worlds))) or World.drawn


def same_for_all(worlds: Iterable[str]) -> str:
    """What the setting is called: `The same waves for everybody`."""
    return f"The same {drawn(worlds)} for everybody"


def same_means(worlds: Iterable[str]) -> str:
    """What it means, in whole sentences."""
    said = dict.fromkeys(f"the same {world.drawn} {world.drawn_alike}" for world in _there(worlds))
    alike = "; ".join(said) or f"the same {World.drawn}"
    return (
        f"In one condition all participants get {alike}. Teammates who act by chance draw from the same seed "
        "for everybody, too."
    )


def _there(worlds: Iterable[str]) -> list[type[World]]:
    known = []
    for name in dict.fromkeys(worlds):
        try:
            known.append(get_world(name))
        except UnknownNameError:
            continue
    return known
