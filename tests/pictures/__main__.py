"""Build the file with all pictures of CuisineWorld: `make pictures` writes
static/worlds/cuisine/pictures.svg.

The pictures are Fluent Emoji, flat (Microsoft, MIT), from the npm registry. own.svg has the pictures that
this set lacks. made_of.toml says which parts make up each picture. You need this program only to change a
picture.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import tarfile
import tomllib
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "kitchen/worlds/cuisine/static/worlds/cuisine/pictures.svg"
SET = "https://registry.npmjs.org/@iconify-json/fluent-emoji-flat/-/fluent-emoji-flat-1.2.6.tgz"
SHA256 = "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175"
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
    drawn = dict(_bodies(pictures))
    symbols = [_symbol(f"of-{_id(part)}", body) for part, body in drawn.items()]
    symbols += [_symbol(name, _compose(parts, pictures)) for name, parts in pictures.items()]
    OUT.write_text("\n".join([_HEAD, *symbols, "</svg>\n"]), "utf-8")
    sys.stdout.write(f"{OUT.name}: {len(pictures)} pictures, {OUT.stat().st_size:,} bytes\n")


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg">
  <!-- Made by `make pictures`. Fluent Emoji, flat: Copyright (c) Microsoft Corporation, MIT License
       (pictures.LICENSE.txt). What it lacks was drawn for Brigade. Used as pictures.svg#code. -->"""


def _bodies(pictures: Made) -> Iterator[tuple[str, str]]:
    """Return the base drawings, each once: from the set of pictures or our own."""
    icons, own = _fetched(), _own()
    for part in dict.fromkeys(parts[0] for parts in pictures.values()):
        yield part, own[part.removeprefix("own:")] if part.startswith("own:") else icons[part]["body"]


def _fetched() -> dict[str, dict[str, str]]:
    with urllib.request.urlopen(SET, timeout=60) as answer:
        package = answer.read()
    if hashlib.sha256(package).hexdigest() != SHA256:
        sys.exit(f"pictures: {SET} is not what it was")
    with tarfile.open(fileobj=io.BytesIO(package)) as tar:
        icons = tar.extractfile("package/icons.json")
        assert icons
        found: dict[str, dict[str, str]] = json.load(icons)["icons"]
        return found


def _own() -> dict[str, str]:
    text = (HERE / "own.svg").read_text("utf-8")
    return dict(re.findall(r'<symbol id="([\w-]+)"[^>]*>(.*?)</symbol>', text, re.DOTALL))


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


def _symbol(name: str, body: str) -> str:
    return f'  <symbol id="{name}" viewBox="0 0 32 32">{body}</symbol>'


if __name__ == "__main__":
    main()
