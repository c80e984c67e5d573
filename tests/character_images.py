"""Write the images of characters and guests: `python -m tests.character_images`.

`templates/kitchen/play/characters.html` is the only drawing of them. Where a page shows a whole character
or a guest, it uses images in place of some thirty elements, so that a step costs browsers less. This module
makes `static/css/character_images.css`: for each body, pose, look and mood, a class that has its image as a
background. An image knows none of the page's styles, so it contains the rules that it needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

STYLES = Path(__file__).parent.parent / "static" / "css"
IMAGES = STYLES / "character_images.css"
HEAD = """/* The images of characters and guests. `python -m tests.character_images` writes this file from the
   drawings in templates/kitchen/play/characters.html. */
"""
RULE = re.compile(r"^(\.[\w-]+(?:,\n\.[\w-]+)*) \{\n([^}]*)\}", re.MULTILINE)
"""A rule of a style sheet for one class, or for some."""
COLOUR = re.compile(r"--([\w-]+): (#\w+);")
ROOM = "-24 -28 48 46"
"""The view box of a pose: wider than that of a body, because tools and hands go beyond it."""
AS_THEY_ARE = " '()*+,-./:;=@_~!&{}"
"""The characters that need no escape in an address in quotation marks."""

Parts = Mapping[str, ElementTree.Element]


def characters_css() -> str:
    """Return the text of the style sheet."""
    parts = {part.get("id", ""): part for name in ("seats", "characters") for part in _drawing(name).iter()}
    return HEAD + "".join(rule for name in parts for rule in _images(name, parts))


def _drawing(name: str) -> ElementTree.Element:
    from django.template.loader import render_to_string

    return ElementTree.fromstring(render_to_string(f"kitchen/play/{name}.html"))  # noqa: S314 - our own


def _images(name: str, parts: Parts) -> Iterator[str]:
    """Yield the rules of one part. A pose has two if its arm swings: `::after` is the arm."""
    part, kind = parts[name], name.split("-")[0]
    if kind in ("body", "look"):
        yield _rule(f".{name}", _svg(part, part.get("viewBox", ""), parts))
    elif kind == "mood":
        yield _rule(f".{name}::before", _svg(part, part.get("viewBox", ""), parts))
    elif kind == "pose":
        for group in part.findall("g"):
            for arm in group.findall("g[@class='swing']"):
                group.remove(arm)
                yield _rule(f".{name}::after", _svg(arm, ROOM, parts))
        yield _rule(f".{name}::before", _svg(part, ROOM, parts))


def _rule(selector: str, svg: str) -> str:
    address = f"data:image/svg+xml,{quote(svg, safe=AS_THEY_ARE)}"
    return f'{selector} {{\n  background-image: url("{address}");\n}}\n'


def _svg(part: ElementTree.Element, view_box: str, parts: Parts) -> str:
    drawn = "".join(_drawn(child, parts) for child in part)
    style = _style(set(re.findall(r"class='([\w-]+)'", drawn)))
    return f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{view_box}'><style>{style}</style>{drawn}</svg>"


def _drawn(element: ElementTree.Element, parts: Parts) -> str:
    """Return an element as text. What `use` points to takes its place."""
    tag, given = element.tag, {**element.attrib}
    given.pop("id", None)
    children: ElementTree.Element | list[ElementTree.Element] = element
    if tag == "use":
        target = parts[given.pop("href")[1:]]
        tag, children = ("svg", target) if target.tag == "symbol" else ("g", [target])
        given |= {name: target.attrib[name] for name in ("viewBox", "class") if name in target.attrib}
    attributes = "".join(f" {name}='{value}'" for name, value in given.items())
    inner = "".join(_drawn(child, parts) for child in children)
    return f"<{tag}{attributes}>{inner}</{tag}>" if inner else f"<{tag}{attributes}/>"


def _style(classes: set[str]) -> str:
    """Return the rules that a drawing with these classes needs, for light and dark pages."""
    tokens = (STYLES / "tokens.css").read_text().split("@media", 1)
    light, dark = (dict(COLOUR.findall(text)) for text in tokens)
    rules = _rules(classes)
    by_day = "".join(f".{name}{{{_with(light, rules[name])}}}" for name in sorted(rules))
    seat = next((name for name in classes if name.startswith("seat-") and name[5:].isdigit()), "")
    if not seat:
        return by_day
    number = ".seat-number{fill:#fff}" if f".{seat} .seat-number" in _sheet("base") else ""
    shape = ".seat-shape{{fill:{0};stroke:{1}}}".format
    night = {**light, **dark}
    return (
        f"{by_day}{shape(light[seat], light['seat-edge'])}{number}@media (prefers-color-scheme:dark)"
        f"{{{shape(night[seat], night['seat-edge'])}.seat-number{{fill:#14181a}}}}"
    )


def _rules(classes: set[str]) -> dict[str, str]:
    """Return the declarations of each of these classes, without white space."""
    found: dict[str, str] = {}
    for name in ("base", "characters"):
        for selectors, body in RULE.findall(_sheet(name)):
            declared = re.sub(r":\s+", ":", re.sub(r"\s*\n\s*", "", body.strip()))
            for one in re.findall(r"[\w-]+", selectors):
                if one in classes:
                    found[one] = found.get(one, "") + declared
    return found


def _sheet(name: str) -> str:
    return re.sub(r"\s*/\*.*?\*/", "", (STYLES / f"{name}.css").read_text(), flags=re.DOTALL)


def _with(colours: Mapping[str, str], declared: str) -> str:
    return re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], declared)


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    django.setup()
    IMAGES.write_text(characters_css())
