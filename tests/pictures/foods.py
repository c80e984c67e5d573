"""Compose the pictures of the foods of Collab-Overcooked: of each ingredient, and of all made from it.

Sliced food is its own picture in three slices. A mark at the corner tells cut, boiled and baked food. Mash,
soup and stew fill a bowl in the colour of their food, and small pictures say what is in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, food_rules
from tests.pictures.picture_set import HEAD, Icons, read_symbols, symbol

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "kitchen/worlds/collab_overcooked/static/worlds/collab_overcooked/foods.svg"
BOILED = (
    '<circle cx="24.500" cy="24.500" r="7" fill="#2f74b5" stroke="#fff" stroke-width="1.200"/>'
    '<path fill="none" stroke="#fff" stroke-width="1.600" stroke-linecap="round" '
    'd="M20 23q1.500-2 3 0t3 0 3 0M20 26.500q1.500-2 3 0t3 0 3 0"/>'
)
BAKED = (
    '<circle cx="24.500" cy="24.500" r="7" fill="#fff" stroke="#8b3f10" stroke-width="1.200"/>'
    '<use href="#of-fire" x="19.700" y="19.200" width="9.600" height="9.600"/>'
)
CUT = (
    '<circle cx="24.500" cy="24.500" r="7" fill="#fff" stroke="#59646a" stroke-width="1.200"/>'
    '<use href="#of-knife" x="19.700" y="19.700" width="9.600" height="9.600"/>'
)
BOWL = (
    '<path fill="#8fb3d9" d="M2 16h28c0 7-5 13-14 13S2 23 2 16z"/>'
    '<path fill="#5f88b5" d="M6 23.500c2 3.500 6 5.500 10 5.500s8-2 10-5.500c-6 3-14 3-20 0z"/>'
)
STEAM = (
    '<path fill="none" stroke="#9aa3ad" stroke-width="1.500" stroke-linecap="round" '
    'd="M11 7c-1-2 1-3 0-5M16 6c-1-2 1-3 0-5M21 7c-1-2 1-3 0-5"/>'
)
MOUND = "M3 16c1-3 3-4 5-6 2-3 4-5 8-5s6 2 8 5c2 2 4 3 5 6z"
PLACES = {
    1: ((16.0, 22.5, 6.0),),
    2: ((9.5, 22.5, 5.6), (22.5, 22.5, 5.6)),
    3: ((7, 22.5, 5.2), (16, 24.5, 5.2), (25, 22.5, 5.2)),
}
"""Middle and radius of each small picture of what is inside, by their number."""


def build(icons: Icons) -> str:
    """Return the SVG file."""
    listed: Mapping[str, Sequence[str]] = tomllib.loads((HERE / "foods.toml").read_text("utf-8"))
    own = read_symbols(HERE / "foods.svg")
    colours = {name: colour for name, (_, colour) in listed.items()}
    bodies = {
        name: own[part.removeprefix("own:")] if part.startswith("own:") else icons[part]["body"]
        for name, (part, _) in listed.items()
    }
    symbols = [symbol("of-fire", icons["fire"]["body"]), symbol("of-patty", own["patty"])]
    symbols += [symbol("of-knife", icons["kitchen-knife"]["body"])]
    symbols += [symbol(name, body) for name, body in {**bodies, "dish": own["dish"]}.items()]
    symbols += [symbol(name, body) for name, body in products(colours)]
    head = HEAD.format(license="foods.LICENSE.txt", name=OUT.name)
    return "\n".join([head, *symbols, "</svg>\n"])


def products(colours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the code and the drawing of each product, and of those in a dish."""
    rules = food_rules()
    for code, (pattern, names) in sorted(rules.patterns.items()):
        yield code, _product(pattern, names, colours)
        if code in rules.served_in_dish:
            yield f"{code}{IN_DISH}", _picture("dish", 0, 0, 32) + _picture(code, 5, 4.5, 22)


def _product(pattern: str, names: Sequence[str], colours: Mapping[str, str]) -> str:
    first = names[0]
    if pattern.endswith("_slices"):
        mark = {"boiled": BOILED, "baked": BAKED}.get(pattern.partition("_")[0], CUT)
        return _slices(first) + mark
    if pattern.endswith("_patty"):
        return _picture("of-patty", 0, -4, 32) + _marks(names)
    if pattern.endswith(("_soup", "_stew")):
        inside = f'<ellipse cx="16" cy="16" rx="14" ry="4.500" fill="{colours[first]}" stroke="#6b4520"/>'
        return BOWL + inside + STEAM + _marks(names)
    if pattern.startswith("mashed"):
        mound = f'<path fill="{colours[first]}" stroke="#00000040" d="{MOUND}"/>'
        return mound + BOWL + _marks(names)
    return _picture(first, 1, 1, 28) + (BOILED if pattern.startswith("boiled") else BAKED)


def _picture(name: str, x: float, y: float, size: float) -> str:
    return f'<use href="#{name}" x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}"/>'


def _slices(name: str) -> str:
    """Return the picture of a food cut into three slices, each a window on a third of it."""
    windows = ((0, 0, 5), (11.5, 11, 0), (23, 22, 5))
    return "".join(
        f'<svg x="{x:g}" y="{y:g}" width="9" height="27" viewBox="{left} 0 10 30" preserveAspectRatio="none">'
        f"{_picture(name, 0, 0, 31)}</svg>"
        for x, left, y in windows
    )


def _marks(names: Sequence[str]) -> str:
    """Return small pictures of what is inside, on white discs."""
    return "".join(
        f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="#fff" stroke="#8b8376"/>'
        + _picture(name, x - r * 0.75, y - r * 0.75, r * 1.5)
        for name, (x, y, r) in zip(names, PLACES[len(names)], strict=True)
    )
