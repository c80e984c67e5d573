"""Draw a study's CONSORT flow diagram: how many participants reached each stage, and why others left.

The source is Schulz, Altman and Moher (2010). The module computes the numbers, the layout, and the SVG. The
PDF report draws the same layout.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from django.db.models import Count, QuerySet

from kitchen.words.english_text import counted_noun
from study.analysis.analysis_sample import Sample, attrition
from study.analysis.statistics.run_analysis import Analysis
from study.participants.models import Participant

MOST_REASONS = 6
"""Number of staff's exclusion reasons that are listed; all others are combined."""
GONE = "withdrew; their data are erased, and how far they came is not kept"

Left = tuple[str, int]
"""(reason why participants did not continue, their number)."""


@dataclass(frozen=True, slots=True)
class FlowStage:
    """One stage of the flow: how many participants reached it, and how many left before the next stage,
    with the reasons."""

    words: str
    number: int
    left: tuple[Left, ...] = ()


def participant_flow(sample: Sample, analysis: Analysis) -> tuple[FlowStage, ...]:
    """Return the stages from the first page to the analysis, with the numbers of participants in the sample.

    The number at a stage is everybody who left there plus the number at the next stage. The first stage is
    everybody who opened the study, because the number of invited people is unknown.
    """
    counted = attrition(sample)
    came = counted.entered + counted.otherwise + counted.withdrew
    otherwise = ("not as preregistered (another design, or before it was frozen)", counted.otherwise)
    door = sample.entered.filter(consented_at=None).exclude(status=Participant.Status.COMPLETE)
    on = sample.entered.exclude(pk__in=door.order_by().values("pk"))
    return (
        FlowStage("opened the study", came, _some([(GONE, counted.withdrew), otherwise, *_ended(door)])),
        FlowStage("agreed to take part", on.count(), _some(_ended(on))),
        FlowStage(
            "came to the end", counted.completed, _some(_left_out(sample, analysis, counted.completed))
        ),
        FlowStage("analysed", len(analysis.participants)),
    )


def _ended(people: QuerySet[Participant]) -> Iterator[Left]:
    """Yield the numbers of participants who did not complete the study, one for each kind of end."""
    numbers = dict(people.order_by().values_list("status").annotate(n=Count("pk")))
    for status, words in Participant.Status.choices:
        if status != Participant.Status.COMPLETE:
            still = status == Participant.Status.ACTIVE
            yield "still taking part, or just stopped" if still else str(words), numbers.get(status, 0)


def _left_out(sample: Sample, analysis: Analysis, completed: int) -> Iterator[Left]:
    """Yield the numbers of participants who completed the study but are not analysed, one for each reason."""
    gaps = [one for one in analysis.exclusions if one.reason == "not every condition"]
    left = [
        *_excluded(sample),
        ("failed more attention checks than allowed", _failed(sample)),
        ("no value in every condition", sum(len(one.participants) for one in gaps)),
    ]
    yield from left
    rest = completed - len(analysis.participants) - sum(number for _, number in left)
    yield "an outage touched all that they played", rest


def _failed(sample: Sample) -> int:
    return sample.stayed.filter(excluded_at=None, pk__in=sample.failed).count()


def _excluded(sample: Sample) -> Iterator[Left]:
    """Yield the numbers of participants whom staff excluded, one for each reason. The most frequent reason
    comes first."""
    people = sample.stayed.exclude(excluded_at=None).order_by()
    rows = people.values_list("excluded_reason").annotate(n=Count("pk"))
    reasons = sorted(rows, key=lambda row: (-row[1], row[0]))
    for reason, number in reasons[:MOST_REASONS]:
        yield f"excluded by staff: {reason or 'no reason given'}", number
    yield "excluded by staff for other reasons", sum(number for _, number in reasons[MOST_REASONS:])


def _some(left: Iterable[Left]) -> tuple[Left, ...]:
    return tuple(one for one in left if one[1])


WIDTH, MAIN, SIDE, GAP, LINE, PAD = 640, 250, 310, 22, 15, 9
"""Sizes in points: sheet width, widths of both columns, gap between boxes, line height, padding."""
CHARACTERS = {MAIN: 38, SIDE: 50}
"""Characters per line of a box, by its width."""
SIZE = 10
"""Font size."""


@dataclass(frozen=True, slots=True)
class DiagramBox:
    """A box with lines of text. `x` and `y` are in points; `y` grows downwards."""

    x: float
    y: float
    width: float
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """Return the height of the box: its lines and the padding."""
        return len(self.lines) * LINE + 2 * PAD


@dataclass(frozen=True, slots=True)
class DiagramArrow:
    """An arrow from one point to another. The arrowhead is at the second point."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class FlowDiagram:
    """The laid-out diagram: its boxes and arrows. It is `WIDTH` points wide."""

    height: float
    boxes: tuple[DiagramBox, ...]
    arrows: tuple[DiagramArrow, ...]
    alt: str


def diagram_of(stations: Sequence[FlowStage]) -> FlowDiagram:
    """Return the diagram of these stages from top to bottom. Participants who left are shown to the right
    of their stage."""
    boxes, arrows, y = list[DiagramBox](), list[DiagramArrow](), 1.0
    middle = MAIN / 2
    for station, last in zip(stations, [*[False] * (len(stations) - 1), True], strict=True):
        box = DiagramBox(1, y, MAIN, tuple(_wrapped(f"{station.words}: n = {station.number}", MAIN)))
        boxes.append(box)
        y = bottom = box.y + box.height
        if station.left:
            side = DiagramBox(WIDTH - SIDE - 1, bottom + GAP / 2, SIDE, tuple(_left(station)))
            boxes.append(side)
            turn = side.y + side.height / 2
            arrows.append(DiagramArrow(middle, turn, side.x, turn))
            y = side.y + side.height - GAP / 2
        if not last:
            arrows.append(DiagramArrow(middle, bottom, middle, y + GAP))
            y += GAP
    return FlowDiagram(y + 1, tuple(boxes), tuple(arrows), describe_diagram(stations))


def describe_diagram(stations: Sequence[FlowStage]) -> str:
    """Return a text that describes the diagram for readers who cannot see it."""
    said = (
        [
            f"{counted_noun(one.number, 'participant')} {one.words}",
            *(f"{number} {words}" for words, number in one.left),
        ]
        for one in stations
    )
    return " ".join(f"{'; '.join(parts)}." for parts in said)


def _left(station: FlowStage) -> Iterator[str]:
    yield f"did not go on: n = {sum(number for _, number in station.left)}"
    for words, number in station.left:
        yield from _wrapped(f"{number} {words}", SIDE)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, CHARACTERS[width]) or [""]


def to_svg(chart: FlowDiagram) -> bytes:
    """Return the diagram as SVG. Its title element has the description as text."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {chart.height:g}" width="{WIDTH}" '
        f'height="{chart.height:g}" role="img" font-family="DejaVu Sans, Verdana, Arial, sans-serif" '
        f'font-size="{SIZE}"><title>{escape(chart.alt)}</title>'
        f'<rect width="{WIDTH}" height="{chart.height:g}" fill="#fff"/>'
    )
    parts = [*map(_arrow, chart.arrows), *map(_box, chart.boxes)]
    return "\n".join([head, *parts, "</svg>\n"]).encode()


def _box(box: DiagramBox) -> str:
    frame = (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" fill="#fff" '
        'stroke="#22272e"/>'
    )
    lines = (
        f'<text x="{box.x + PAD:g}" y="{box.y + PAD + (number + 0.75) * LINE:g}" fill="#22272e">'
        f"{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    return "\n".join([frame, *lines])


def _arrow(one: DiagramArrow) -> str:
    line = (
        f'<line x1="{one.x1:g}" y1="{one.y1:g}" x2="{one.x2:g}" y2="{one.y2:g}" stroke="#22272e" '
        'stroke-width="1"/>'
    )
    corners = " ".join(f"{x:g},{y:g}" for x, y in head_of(one))
    return f'{line}<polygon points="{corners}" fill="#22272e"/>'


def head_of(arrow: DiagramArrow) -> tuple[tuple[float, float], ...]:
    """Return the three corners of the arrow's head. The arrow must point down or to the right."""
    x, y = arrow.x2, arrow.y2
    if arrow.x1 == arrow.x2:
        return (x, y), (x - 3, y - 6), (x + 3, y - 6)
    return (x, y), (x - 6, y - 3), (x - 6, y + 3)
