"""Draw a chart as an SVG, PDF or PNG file.

Vega-Lite draws the plot, and this module adds the title and notes. Drawing the same chart twice gives
identical bytes. Fonts come from the folder `fonts/` and the operating system, never from the network.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path
from types import ModuleType

from kitchen.charts.chart_data import Chart, ImageFormat
from kitchen.charts.chart_style import (
    AMBER,
    AMBER_EDGE,
    AMBER_INK,
    FONT,
    HATCHES,
    INK,
    MUTED_INK,
    PAPER,
    series_colour,
    wrap_text,
)
from kitchen.charts.vega_charts import vega_specification

FONTS = Path(__file__).parent / "fonts"
VEGA_LITE = "6.4"
DPI = 300
"""Dots per inch of a PNG, as journals require."""
POINTS = 0.75
"""Points per pixel: 96 pixels are an inch."""
EDGE, MARK = 16, 150
"""Margin, and room for the mark of synthetic data, in pixels."""
MARK_END = 40
"""Least distance of the plot from the top below that mark, in pixels."""
LETTER, SMALL_LETTER, TITLE, SMALL = 11.0, 5.6, 20, 15
"""Width of a letter of the title and of small texts, and heights of their lines, in pixels."""


def draw_chart(chart: Chart, kind: ImageFormat = "svg", *, dpi: int = DPI) -> bytes:
    """Return the chart as the bytes of an SVG, PDF or PNG file. SVG keeps text as text. `dpi` is used for
    PNG only. Thread-safe."""
    vega = _converter()
    plot = _plot(chart)
    if kind == "svg":
        return f'<?xml version="1.0" encoding="utf-8"?>\n{_sheet(chart, plot)}\n'.encode()
    svg = _sheet(chart, plot, POINTS)
    return _pdf(vega.svg_to_pdf(svg), chart) if kind == "pdf" else _png(vega.svg_to_png(svg, 1, dpi), chart)


@lru_cache(maxsize=32)
def _plot(chart: Chart) -> str:
    """Return the plot of a chart as SVG. The result is cached, because a chart is often drawn in several
    file formats."""
    return str(_converter().vegalite_to_svg(vega_specification(chart, paper=True), VEGA_LITE))


@lru_cache
def _converter() -> ModuleType:
    """Return vl-convert with the fonts of this app. Its first drawing takes half a second."""
    import vl_convert

    vl_convert.register_font_directory(str(FONTS))
    return vl_convert


def _sheet(chart: Chart, plot: str, scale: float = 1.0) -> str:
    """Return the whole figure as SVG: the plot with title, note and a mark for synthetic data. Long lines are
    wrapped to the figure's width."""
    across, down = (float(re.findall(f' {side}="([\\d.]+)"', plot)[0]) for side in ("width", "height"))
    width = across + 2 * EDGE
    title = wrap_text(chart.shown_title, int((width - MARK) / LETTER)).split("\n")
    title = title if chart.shown_title else []
    under, note = (
        wrap_text(text, int((width - 2 * EDGE) / SMALL_LETTER), most=None).split("\n") if text else []
        for text in (chart.under, chart.full_note)
    )
    head = max(EDGE + TITLE * len(title) + SMALL * len(under) + 10, MARK_END if chart.synthetic else 0)
    foot = head + down + 8
    height = foot + SMALL * len(note) + EDGE / 2
    sizes = f'width="{width * scale:g}" height="{height * scale:g}" viewBox="0 0 {width:g} {height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="figure_{chart.key}" {sizes}',
        f'role="img" font-family="{FONT}" font-size="11.5">',
        f"<title>{escape(chart.full_title)}</title><desc>{escape(chart.alternative)}</desc>",
        *_hatches(chart),
        f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>',
        *_lines(title, EDGE + 15, TITLE, f'fill="{INK}" font-size="16" font-weight="bold"'),
        *_lines(under, EDGE + TITLE * len(title) + 12, SMALL, f'fill="{MUTED_INK}"'),
        *([_mark(width)] if chart.synthetic else []),
        plot.replace("<svg", f'<svg x="{EDGE}" y="{head:g}"', 1).strip(),
        *_lines(note, foot + 10, SMALL, f'fill="{MUTED_INK}" font-size="10"'),
        "</svg>",
    ]
    return "\n".join(parts)


def _lines(texts: list[str], y: float, step: float, look: str) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f'<text x="{EDGE}" y="{y + number * step:g}" {look}>{escape(text)}</text>'


def _mark(width: float) -> str:
    left = width - EDGE - 110
    return (
        f'<rect x="{left:g}" y="10" width="110" height="23" rx="4" fill="{AMBER}" stroke="{AMBER_EDGE}"/>'
        f'<text x="{left + 55:g}" y="26" text-anchor="middle" fill="{AMBER_INK}" font-weight="bold">'
        "Synthetic data</text>"
    )


def _hatches(chart: Chart) -> Iterator[str]:
    """Yield the patterns that distinguish the chart's spans without colours."""
    for number in sorted({one.colour or 0 for one in chart.series if one.look == "spans"}):
        yield (
            f'<pattern id="hatch-{number}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{series_colour(number)}"/>'
            f'<path d="{HATCHES[number % len(HATCHES)]}" stroke="{PAPER}" stroke-width="1.5" fill="none"/>'
            "</pattern>"
        )


def _png(png: bytes, chart: Chart) -> bytes:
    """Return the PNG with title and description stored in it as metadata."""
    words = {"Title": chart.full_title, "Description": chart.alternative}
    chunks = (b"iTXt" + name.encode() + bytes(5) + text.encode() for name, text in words.items())
    made = (struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks)
    return png[:33] + b"".join(made) + png[33:]


REFERENCE = re.compile(rb"(\d+) 0 R")
REFERENCES = re.compile(rb"(?:\n +/\w+ \d+ 0 R)+")


def _pdf(pdf: bytes, chart: Chart) -> bytes:
    """Return the PDF with title and description. The same chart always gives the same bytes, although svg2pdf
    writes fonts and resources in random order."""
    bodies: dict[bytes, tuple[bytes, bytes]] = {}
    for number, body in re.findall(rb"\n(\d+) 0 obj(.*?)\nendobj", pdf, re.DOTALL):
        entries, _, stream = body.partition(b"\nstream\n")
        ordered = REFERENCES.sub(lambda found: b"\n".join(sorted(found[0].split(b"\n"))), entries)
        bodies[number] = ordered, b"\nstream\n" + stream if stream else b""
    order = re.findall(rb"/Root (\d+) 0 R", pdf)
    for number in order:  # it grows meanwhile
        order += (one for one in dict.fromkeys(REFERENCE.findall(bodies[number][0])) if one not in order)
    places = {number: b"%d 0 R" % place for place, number in enumerate(order, 1)}
    texts = (f"\ufeff{text}" for text in (chart.full_title, chart.alternative))
    title, words = (text.encode("utf-16-be").hex().encode() for text in texts)
    objects = [
        REFERENCE.sub(lambda found: places[found[1]], bodies[one][0]) + bodies[one][1] for one in order
    ]
    objects.append(b"\n<< /Title <%s> /Subject <%s> >>" % (title, words))
    made, starts = pdf[: pdf.index(b"\n", 9)], []
    for place, body in enumerate(objects, 1):
        starts.append(b"%010d 00000 n \n" % (len(made) + 1))
        made += b"\n%d 0 obj%s\nendobj" % (place, body)
    size = len(objects)
    table = b"\nxref\n0 %d\n0000000000 65535 f \n%s" % (size + 1, b"".join(starts))
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (size + 1, size)
    return made + table + trailer + b"startxref\n%d\n%%%%EOF\n" % (len(made) + 1)
