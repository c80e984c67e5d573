"""Build the files with all pictures of food: `make pictures` writes pictures.svg of CuisineWorld and
foods.svg of Collab-Overcooked.

The pictures are Fluent Emoji, flat (Microsoft, MIT), from the npm registry. own.svg and foods.svg have the
pictures that this set lacks. made_of.toml says which parts make up each picture of CuisineWorld; foods.py
composes those of Collab-Overcooked. You need this program only to change a picture.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.pictures import foods
from tests.pictures.picture_set import HEAD, Icons, download_icons, read_symbols, symbol

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "kitchen/worlds/cuisine/static/worlds/cuisine/pictures.svg"
MARKS = {
    1: ((23.0, 23.0, 8.5),),
    2: ((24.5, 24.5, 7.0), (9.5, 24.5, 7.0)),
    3: ((26.0, 25.5, 5.8), (16.0, 26.0, 5.8), (6.0, 25.5, 5.8)),
}
"""Positions of the marks of one, two or three ingredients: centre and radius, in a square of 32."""
Made = dict[str, list[str]]


def main() -> None:
    """Download the set of pictures, compose every picture, and write the file."""
    made: dict[str, Made] = tomllib.loads((HERE / "made_of.toml").read_text("utf-8"))
    pictures = {name: parts for group in made.values() for name, parts in group.items()}
    icons = download_icons()
    drawn = dict(_bodies(pictures, icons))
    symbols = [symbol(f"of-{_id(part)}", body) for part, body in drawn.items()]
    symbols += [symbol(name, _compose(parts, pictures)) for name, parts in pictures.items()]
    head = HEAD.format(license="pictures.LICENSE.txt", name=OUT.name)
    OUT.write_text("\n".join([head, *symbols, "</svg>\n"]), "utf-8")
    foods.OUT.write_text(foods.build(icons), "utf-8")
    for path in (OUT, foods.OUT):
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


def _bodies(pictures: Made, icons: Icons) -> Iterator[tuple[str, str]]:
    """Return the base drawings, each once: from the set of pictures or our own."""
    own = read_symbols(HERE / "own.svg")
    for part in dict.fromkeys(parts[0] for parts in pictures.values()):
        yield part, own[part.removeprefix("own:")] if part.startswith("own:") else icons[part]["body"]


def _compose(parts: Sequence[str], pictures: Made) -> str:
    """Combine the parts of a picture: the first at full size, the others as small marks in front of it."""
    first, marks = parts[0], parts[1:]
    if not marks:
        return f'<use href="#of-{_id(first)}" width="32" height="32"/>'
    small = 27 if len(marks) < 3 else 25
    made = [f'<use href="#of-{_id(first)}" width="{small}" height="{small}"/>']
    for code, (x, y, radius) in zip(marks, MARKS[len(marks)], strict=True):
        side = radius * 1.5
        mark = f'<use href="#of-{_id(pictures[code][0])}" x="{x - side / 2:g}" y="{y - side / 2:g}"'
        made.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="#fff" stroke="#8b8376"/>')
        made.append(f'{mark} width="{side:g}" height="{side:g}"/>')
    return "".join(made)


def _id(part: str) -> str:
    return part.replace(":", "-")


if __name__ == "__main__":
    main()
