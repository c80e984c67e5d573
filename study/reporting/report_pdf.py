"""Convert a study's report from Markdown to PDF with the library ReportLab.

Pages are A4 with embedded fonts. The same input gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from io import BytesIO
from itertools import pairwise
from typing import Any

from markdown_it.tree import SyntaxTreeNode
from reportlab import rl_config
from reportlab.graphics.shapes import Drawing, Line, Polygon, Rect, String
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    Flowable,
    Image,
    ListFlowable,
    ListItem,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from kitchen.charts.chart_drawing import FONTS
from study.reporting.consort_diagram import GAP, LINE, PAD, SIZE, WIDTH, FlowDiagram, head_of
from study.reporting.report_html import NUMBERS, parse_report

MARGIN = 18 * mm
INNER = A4[0] - 2 * MARGIN
INK, RULE, AMBER, BROWN = (HexColor(one) for one in ("#22272E", "#D0D5DB", "#FFF1CC", "#4A2F00"))
LETTERS = "DejaVuSans"
FACES = {"": "", "-Bold": "b", "-Oblique": "i", "-BoldOblique": "bi"}
CHINESE = "STSong-Light"
FOREIGN = re.compile("[\N{CJK RADICAL REPEAT}-\N{HALFWIDTH KATAKANA VOICED SOUND MARK}]+")
"""Characters that DejaVu lacks; the PDF viewer's own font shows them."""
SMALLEST_COLUMN = 26
FIGURE, SMALL_FIGURE = 0.72, 0.46
"""Largest share of the available width for a figure, and for a small one, which has its table beside it."""
BESIDE = (1 - SMALL_FIGURE) * INNER - 8
"""Width of a table beside a figure, in points."""
WIDE, MOST_BESIDE = 1.6, 16
"""From this ratio of width to height on, a figure is never small. Most rows of a table beside a figure."""
DPI = 150
PIXELS_PER_POINT = DPI / 72


def to_pdf(
    text: str,
    figures: Mapping[str, bytes | FlowDiagram],
    *,
    title: str,
    mark: str = "",
    small: Collection[str] = (),
) -> bytes:
    """Return the report as PDF. `text` is the report in Markdown.

    `figures` has the figures by name: PNG with `DPI` dots per inch, or a flow diagram. `mark` is a text
    shown on every page. `small` are the names of figures that are small, with the table after them beside.
    """
    _letters()
    rl_config.useA85 = 0  # binary streams are smaller and quicker to write
    out = BytesIO()
    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=title,
        author="",
        invariant=1,
    )

    def dress(canvas: Any, _: Any) -> None:
        _dress(canvas, title, mark)

    story = list(_Story(figures, small).blocks(SyntaxTreeNode(parse_report(text)).children))
    document.build(story, onFirstPage=dress, onLaterPages=dress)
    return out.getvalue()


def _letters() -> None:
    """Register the fonts of the report with ReportLab. This is done once per process."""
    if LETTERS in pdfmetrics.getRegisteredFontNames():
        return
    for face in FACES:
        pdfmetrics.registerFont(TTFont(f"{LETTERS}{face}", str(FONTS / f"DejaVuSans{face}.ttf")))
    pdfmetrics.registerFontFamily(
        LETTERS,
        normal=LETTERS,
        bold=f"{LETTERS}-Bold",
        italic=f"{LETTERS}-Oblique",
        boldItalic=f"{LETTERS}-BoldOblique",
    )
    pdfmetrics.registerFont(TTFont(f"{LETTERS}Mono", str(FONTS / "DejaVuSansMono.ttf")))
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE))


def _dress(canvas: Any, title: str, mark: str) -> None:
    """Draw the report's title, the page number and the text `mark` on one page of the PDF. `canvas` is that
    page."""
    canvas.saveState()
    canvas.setFont(LETTERS, 7.5)
    canvas.setFillColor(INK)
    if not FOREIGN.search(title):
        canvas.drawString(MARGIN, 9 * mm, title if len(title) <= 80 else f"{title[:79]}…")
    canvas.drawRightString(A4[0] - MARGIN, 9 * mm, f"page {canvas.getPageNumber()}")
    if mark:
        width, top = canvas.stringWidth(mark, LETTERS, 7.5) + 10, A4[1] - 12 * mm
        canvas.setFillColor(AMBER)
        canvas.rect(A4[0] - MARGIN - width, top - 4, width, 14, stroke=0, fill=1)
        canvas.setFillColor(BROWN)
        canvas.drawRightString(A4[0] - MARGIN - 5, top, mark)
    canvas.restoreState()


def style_of(
    size: float, *, bold: bool = False, before: float = 0, after: float = 5, **more: Any
) -> ParagraphStyle:
    """Return an unnamed ReportLab paragraph style. Sizes and distances are in points."""
    face = f"{LETTERS}-Bold" if bold else LETTERS
    return ParagraphStyle(
        f"{size}{bold}{before}",
        fontName=face,
        fontSize=size,
        leading=size * 1.38,
        spaceBefore=before,
        spaceAfter=after,
        textColor=INK,
        **more,
    )


TEXT, CELL = style_of(9), style_of(6.8, after=0)
RIGHT, HEAD = style_of(6.8, after=0, alignment=2), style_of(6.8, bold=True, after=0)
HEAD_RIGHT = style_of(6.8, bold=True, after=0, alignment=2)
HEADINGS = {
    "h1": style_of(18, bold=True, after=10),
    "h2": style_of(13, bold=True, before=16, after=6, keepWithNext=1),
    "h3": style_of(10.5, bold=True, before=12, after=4, keepWithNext=1),
}
QUOTE = style_of(9, leftIndent=10, backColor=HexColor("#F3F5F7"), borderPadding=4, before=3, after=8)


class _Story:
    """Lays out a Markdown document as ReportLab elements."""

    def __init__(self, figures: Mapping[str, bytes | FlowDiagram], small: Collection[str] = ()) -> None:
        self.figures, self.small = figures, small

    def blocks(self, nodes: Sequence[SyntaxTreeNode], style: ParagraphStyle = TEXT) -> Iterator[Flowable]:
        """Yield the ReportLab elements for these Markdown nodes, in the order of the page."""
        beside = False  # this node is already beside the figure before it
        for node, following in pairwise([*nodes, None]):
            small = self._small_figure(node) if node else None
            if beside or node is None:
                beside = False
            elif small:
                other = self._beside(following) if following else None
                beside = other is not None
                yield _side_by_side(small, other) if other else small
            else:
                yield from self._block(node, style)

    def _block(self, node: SyntaxTreeNode, style: ParagraphStyle) -> Iterator[Flowable]:
        if node.type == "heading":
            yield Paragraph(self.words(node), HEADINGS.get(node.tag, HEADINGS["h3"]))
        elif node.type == "paragraph":
            yield self._paragraph(node, style)
        elif node.type in ("bullet_list", "ordered_list"):
            yield self._list(node, style)
        elif node.type == "table":
            yield from self._table(node)
        elif node.type == "blockquote":
            yield from self.blocks(node.children, QUOTE)
        elif node.content:
            yield Paragraph(_safe(node.content), style)

    def _paragraph(self, node: SyntaxTreeNode, style: ParagraphStyle) -> Flowable:
        name = self._figure_name(node)
        return _figure(self.figures[name]) if name else Paragraph(self.words(node), style)

    def _figure_name(self, node: SyntaxTreeNode) -> str:
        """Return the name of the figure that is alone in a paragraph. Return an empty string for other
        nodes."""
        alone = node.children[0].children if node.type == "paragraph" and node.children else []
        name = str(alone[0].attrs["src"]) if len(alone) == 1 and alone[0].type == "image" else ""
        return name if name in self.figures else ""

    def _small_figure(self, node: SyntaxTreeNode) -> Image | None:
        """Return the small figure of this node. Return None if the node has none, or if it is too wide."""
        name = self._figure_name(node)
        data = self.figures[name] if name in self.small else None
        if not isinstance(data, bytes):
            return None
        image = _figure(data, SMALL_FIGURE)
        return image if isinstance(image, Image) and image.imageWidth < WIDE * image.imageHeight else None

    def _beside(self, node: SyntaxTreeNode) -> Flowable | None:
        """Return a small figure or a narrow, short table to put beside a small figure. Return None for
        another node."""
        if node.type != "table":
            return self._small_figure(node)
        rows = [row for part in node.children for row in part.children]
        texts = [[self.words(cell) for cell in row.children] for row in rows]
        if len(rows) > MOST_BESIDE or sum(_least_widths(texts)) > BESIDE:
            return None
        return next(self._table(node, BESIDE))

    def _list(self, node: SyntaxTreeNode, style: ParagraphStyle) -> Flowable:
        items = [ListItem(list(self.blocks(one.children, style)), leftIndent=12) for one in node.children]
        kind = "bullet" if node.type == "bullet_list" else "1"
        return ListFlowable(items, bulletType=kind, bulletFontName=LETTERS, bulletFontSize=9, start=None)

    def _table(self, node: SyntaxTreeNode, room: float = INNER) -> Iterator[Flowable]:
        rows = [row.children for part in node.children for row in part.children]
        texts = [[self.words(cell) for cell in row] for row in rows]
        cells = [
            [Paragraph(text, _style_of_cell(cell)) for text, cell in zip(line, row, strict=True)]
            for line, row in zip(texts, rows, strict=True)
        ]
        yield Table(cells, colWidths=_widths(texts, room), repeatRows=1, style=LOOK, hAlign="LEFT")
        yield Spacer(0, 8)

    def words(self, node: SyntaxTreeNode) -> str:
        """Return the text inside a Markdown node, in ReportLab's markup."""
        return "".join(map(self._span, node.children))

    def _span(self, node: SyntaxTreeNode) -> str:
        if node.type == "text":
            return _safe(node.content)
        if node.type in ("softbreak", "hardbreak"):
            return " " if node.type == "softbreak" else "<br/>"
        if node.type == "code_inline":
            return f'<font name="{LETTERS}Mono" size="7">{_safe(node.content)}</font>'
        mark = {"em": "i", "strong": "b"}.get(node.type)
        inside = self.words(node) if node.children else _safe(node.content)
        return f"<{mark}>{inside}</{mark}>" if mark else inside


def _side_by_side(figure: Image, other: Flowable) -> Flowable:
    """Return a figure with a table or another figure to its right."""
    columns = [INNER - BESIDE, BESIDE]
    return Table([[figure, other]], colWidths=columns, style=BARE, hAlign="LEFT", spaceAfter=6)


def _style_of_cell(cell: SyntaxTreeNode) -> ParagraphStyle:
    right = cell.attrs.get("class") == NUMBERS
    if cell.type == "th":
        return HEAD_RIGHT if right else HEAD
    return RIGHT if right else CELL


def _safe(text: str) -> str:
    """Return the text with its markup escaped. Characters that the font DejaVu lacks are set in another
    font."""
    return FOREIGN.sub(lambda found: f'<font name="{CHINESE}">{found[0]}</font>', escape(text, quote=False))


LOOK = TableStyle(
    [
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, INK),
        ("LINEBELOW", (0, 1), (-1, -1), 0.3, RULE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 2.5),
        ("RIGHTPADDING", (0, 0), (-1, -1), 2.5),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ]
)


BARE = TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0)])
"""The look of a figure with a table beside it."""


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[re.sub("<[^>]*>", "", cell) for cell in column] for column in zip(*rows, strict=True)]


def _least_widths(rows: Sequence[Sequence[str]]) -> list[float]:
    """Return the least widths of a table's columns: each has room for its longest word."""
    words = ([word for cell in column for word in cell.split()] for column in _columns(rows))
    return [max([SMALLEST_COLUMN, *map(_width, several)]) for several in words]


def _widths(rows: Sequence[Sequence[str]], inner: float = INNER) -> list[float]:
    """Return the widths of a table's columns, at most `inner` in all. Each column has room for its longest
    word. The remaining width is divided by the amount of text."""
    least = _least_widths(rows)
    wanted = [max(low, *map(_width, column)) for low, column in zip(least, _columns(rows), strict=True)]
    if sum(wanted) <= inner:
        return wanted
    room = max(inner - sum(least), 0)
    more = [want - low for want, low in zip(wanted, least, strict=True)]
    scale = min(1.0, inner / sum(least))
    return [low * scale + room * extra / (sum(more) or 1) for low, extra in zip(least, more, strict=True)]


def _width(text: str) -> float:
    return float(pdfmetrics.stringWidth(text, f"{LETTERS}-Bold", CELL.fontSize)) + 6


def _figure(data: bytes | FlowDiagram, share: float = FIGURE) -> Flowable:
    if isinstance(data, FlowDiagram):
        return _drawing(data)
    image = Image(BytesIO(data))
    width, height = image.imageWidth / PIXELS_PER_POINT, image.imageHeight / PIXELS_PER_POINT
    scale = min(1.0, share * INNER / width)
    image.drawWidth, image.drawHeight, image.hAlign = width * scale, height * scale, "LEFT"
    return image


def _drawing(chart: FlowDiagram) -> Drawing:
    """Return the flow diagram as a ReportLab drawing. It has the same boxes and arrows as the SVG, but its
    y axis points upwards."""
    height = chart.height + GAP
    drawing, top = Drawing(WIDTH, height), height
    for arrow in chart.arrows:
        drawing.add(Line(arrow.x1, top - arrow.y1, arrow.x2, top - arrow.y2, strokeColor=INK))
        corners = [end for x, y in head_of(arrow) for end in (x, top - y)]
        drawing.add(Polygon(corners, fillColor=INK, strokeWidth=0))
    for box in chart.boxes:
        look = {"fillColor": None, "strokeColor": INK}
        drawing.add(Rect(box.x, top - box.y - box.height, box.width, box.height, **look))
        for number, line in enumerate(box.lines):
            below = box.y + PAD + (number + 0.75) * LINE
            drawing.add(_line(box.x + PAD, top - below, line))
    drawing.scale(INNER / WIDTH, INNER / WIDTH)
    drawing.width, drawing.height = INNER, height * INNER / WIDTH
    return drawing


def _line(x: float, y: float, text: str) -> String:
    face = CHINESE if FOREIGN.search(text) else LETTERS
    return String(x, y, text, fontName=face, fontSize=SIZE, fillColor=INK)
