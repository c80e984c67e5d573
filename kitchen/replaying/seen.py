"""What the page of one seat showed after so many steps, and what was decided then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from kitchen.contract.agent import JOB, MESSAGE, PLAN_BROKEN, TO_ANSWER
from kitchen.contract.page import Page, SeatView
from kitchen.play import drawing
from kitchen.play.models import Decision, Message, Mind
from kitchen.play.render import layout_of, world_panels
from kitchen.play.selectors import turn_view
from kitchen.play.shell import shell
from kitchen.registry.worlds import get_page
from kitchen.replaying.called import member_called, mind_called, seat_called
from kitchen.replaying.course import world_after
from kitchen.replaying.lines import CommandLine, command_lines, happened
from kitchen.replaying.record import CallRecord, Record
from kitchen.replaying.rewound import Rewound


@dataclass(frozen=True, slots=True)
class Seen:
    """The world's own page of one seat."""

    page: Page
    view: SeatView
    panels: Mapping[str, SafeString]
    """By id: those that all worlds have, and the world's."""
    layout: SafeString
    """The panels as the world arranges them."""


WHY: Mapping[str, str] = {
    PLAN_BROKEN: "its plan could not go on",
    JOB: "there was news of a job",
    MESSAGE: "something was said to it",
    TO_ANSWER: "somebody waited for its answer",
}
"""Why a mind was asked, where it is not just that it had something to choose."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What one mind decided for a step, and what was asked for it."""

    who: str
    """By what staff know it."""
    mind: Mind
    row: Decision
    calls: tuple[CallRecord, ...]

    @property
    def why(self) -> str:
        """Why it was asked, where that is worth a word."""
        return WHY.get(self.row.because, "")


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was said, and by what staff know who said it, and to whom."""

    row: Message
    sender: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One step as staff read it."""

    step: int
    commands: tuple[tuple[str, CommandLine], ...]
    """Each with whose seat it is. Nothing where the step was never taken."""
    happened: tuple[str, ...]
    thoughts: tuple[Thought, ...]
    messages: tuple[Line, ...]


def seen_by(record: Record, seat: int, steps: int) -> Seen:
    """The page of this seat after so many steps. WorldError where the episode cannot be played here."""
    turn = Rewound(record, steps, world_after(record, steps))
    view, page = turn_view(turn, seat), get_page(record.episode.world)
    panels = {panel.id: drawing.whole(panel) for panel in (*shell(page, view), *world_panels(page, view))}
    return Seen(page, view, panels, layout_of(page, view, panels))


def told_of(record: Record, step: int) -> Told:
    """What was decided for this step and came of it; the first is 1, and the one that was open at the end is
    the last."""
    taken = record.steps[step - 1] if step <= len(record.steps) else None
    rows = [row for row in record.decisions if row.step == step]
    lines = command_lines(taken) if taken else ()
    return Told(
        step,
        tuple((seat_called(record, line.seat), line) for line in lines),
        happened(taken) if taken else (),
        tuple(_thought(record, row) for row in rows),
        tuple(_line(record, said) for said in record.messages if said.step == step),
    )


def _thought(record: Record, row: Decision) -> Thought:
    mind = record.mind_of[row.mind_id]
    return Thought(mind_called(record, mind), mind, row, tuple(record.calls_of.get(row.pk, ())))


def _line(record: Record, said: Message) -> Line:
    to = tuple(member_called(record, one) for one in said.to)
    return Line(said, member_called(record, said.sender), to)
