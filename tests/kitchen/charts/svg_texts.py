"""Find the positions of all texts in a drawn chart, measured with the chart's fonts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

from PIL import ImageFont

from kitchen.charts.chart_drawing import FONTS

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def check_texts(svg: bytes) -> None:
    """Fail if two texts of a figure overlap, or if a text leaves the figure."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    boxes = list(_boxes(root, 0, 0, {}))
    for text, (left, top, right, bottom) in boxes:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, f"{text!r} leaves the sheet"
    for (text, one), (other, two) in combinations(boxes, 2):
        apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
        assert apart, f"{text!r} is over {other!r}"


def drawn_texts(svg: bytes) -> list[str]:
    """Return the texts of a figure. A text with several lines is joined to one."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own
    return [" ".join(part for part in one.itertext() if part) for one in root.iter(f"{SVG}text")]


def _boxes(node: ElementTree.Element, x: float, y: float, above: dict[str, str]) -> Iterator[tuple[str, Box]]:
    look = above | node.attrib
    moved = re.match(r"translate\(([-\d.e]+),([-\d.e]+)\)", node.attrib.get("transform", ""))
    x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
    if node.tag in (f"{SVG}svg", f"{SVG}text"):
        x, y = x + float(node.attrib.get("x", 0)), y + float(node.attrib.get("y", 0))
    if node.tag == f"{SVG}text" and node.attrib.get("opacity") != "0":
        lines = [node.text or "", *(part.text or "" for part in node)]
        step = next((float(part.attrib["dy"]) for part in node if "dy" in part.attrib), 0.0)
        for number, line in enumerate(line for line in lines if line.strip()):
            yield line, _box(line, x, y, number * step, look)
        return
    for child in node:
        yield from _boxes(child, x, y, look)


def _box(line: str, x: float, y: float, down: float, look: dict[str, str]) -> Box:
    size = float(look["font-size"].removesuffix("px"))
    width = _font("-Bold" if look.get("font-weight") == "bold" else "").getlength(line) * size / 100
    left = {"middle": -width / 2, "end": -width}.get(look.get("text-anchor", ""), 0.0)
    top, bottom = down - 0.72 * size, down + 0.15 * size
    if "rotate(-90)" in look.get("transform", ""):
        return x + top, y - left - width, x + bottom, y - left
    return x + left, y + top, x + left + width, y + bottom


@cache
def _font(face: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONTS / f"DejaVuSans{face}.ttf", 100)
