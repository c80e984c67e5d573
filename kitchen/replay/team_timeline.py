"""Compute the layout of a team's timeline: a lane for each member, jobs as bars, and messages as arrows.

A job is a task that one member gives to another by message. All lengths are pixels of the drawing. Column n,
counted from 0, begins with step n * `steps_a_column` + 1. The template
`study/monitor/replay_team_timeline.html` draws the timeline as SVG, with a table of the same events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kitchen.contract.assigned_jobs import PASSED_ON, Job, job_changes
from kitchen.contract.organisation import INFORM
from kitchen.contract.team_measures import JobCourse, job_courses
from kitchen.contract.team_messages import TeamMessage
from kitchen.replay.episode_record import EpisodeRecord, member_label

NARROW, WIDE = 24, 48
"""Widths of a column. The narrow one is the least width of something to press (WCAG 2.2, 2.5.8)."""
FEW_COLUMNS = 60
"""Most columns that are wide."""
MOST_COLUMNS = 400
"""Longer episodes have several steps in a column."""
HEAD = 26
"""Height of the part of a lane in which its messages begin and end. The bars of its jobs are below."""
BAR = 22
"""Height of a bar, with the gap below it."""
GAP = 3
LETTER = 6.5
"""Width of a letter in a bar."""
NAME_LETTERS = 17
"""Most letters of a member's name beside its lane; the whole name is in its title."""
TEXT_LETTERS = 160
"""Most letters of a message in the table."""


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """One member's lane."""

    name: str
    top: int
    height: int

    @property
    def short(self) -> str:
        """Return the short name that is shown beside the lane."""
        name = self.name
        return name if len(name) <= NAME_LETTERS else f"{name[: NAME_LETTERS - 1]}…"

    @property
    def line(self) -> int:
        """Return the vertical position (in the drawing's units) at which messages begin and end."""
        return self.top + HEAD // 2

    @property
    def bottom(self) -> int:
        """Return the lower edge of the lane."""
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class JobBar:
    """The bar of one job, in the lane of its worker."""

    x: int
    y: int
    width: int
    state: str
    """The last state of the job, which its pattern shows."""
    label: str
    """What fits into the bar: its number and state."""
    words: str
    """The whole description."""
    column: int
    marks: tuple[int, ...]
    """Positions at which it was accepted and started."""

    @property
    def text_y(self) -> int:
        """Return the baseline of the label."""
        return self.y + BAR - GAP - 5

    @property
    def height(self) -> int:
        """Return the height of the bar."""
        return BAR - GAP

    @property
    def foot(self) -> int:
        """Return the lower edge of the bar."""
        return self.y + BAR - GAP


@dataclass(frozen=True, slots=True)
class MessageArrow:
    """One message to one addressee. A message of the platform has no sender and is a mark."""

    x: float
    y: int
    to_y: int
    is_mark: bool
    words: str
    column: int


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One message, or one change of a job, for the table."""

    step: int
    column: int
    who: str
    what: str
    text: str


@dataclass(frozen=True)
class TeamTimeline:
    """The whole timeline."""

    lanes: tuple[TimelineLane, ...]
    bars: tuple[JobBar, ...]
    arrows: tuple[MessageArrow, ...]
    events: tuple[TimelineEvent, ...]
    steps: int
    steps_a_column: int
    column_width: int

    @property
    def is_wide(self) -> bool:
        """Return whether the drawing has wide columns."""
        return self.column_width == WIDE

    @property
    def columns(self) -> int:
        """Return the number of columns; at least one."""
        return -(-self.steps // self.steps_a_column)

    @property
    def width(self) -> int:
        """Return the width of the drawing."""
        return self.columns * self.column_width

    @property
    def height(self) -> int:
        """Return the height of the drawing."""
        return self.lanes[-1].bottom

    @property
    def ticks(self) -> list[tuple[int, int, int, int]]:
        """Return (number, left edge, first step, steps taken before it) for each column."""
        first = (column * self.steps_a_column + 1 for column in range(self.columns))
        return [(column, column * self.column_width, step, step - 1) for column, step in enumerate(first)]

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Return the states of the jobs in the drawing, for the legend."""
        return tuple(dict.fromkeys(bar.state for bar in self.bars))


def team_timeline(record: EpisodeRecord) -> TeamTimeline | None:
    """Return the timeline of an episode. None if there is no organisation, no step yet, or no message from a
    member."""
    log = record.log
    if log.organisation is None or not log.messages or not record.episode.step:
        return None
    names = {number: member_label(record, number) for number in log.organisation.numbers}
    last = max(record.episode.step, *(message.step for message in log.messages))
    layout = _Layout(names, job_courses(log.messages), last)
    return TeamTimeline(
        tuple(layout.lanes.values()),
        tuple(layout.bars()),
        tuple(layout.arrows(log.messages)),
        tuple(layout.events(log.messages)),
        last,
        layout.scale,
        layout.width,
    )


class _Layout:
    """Positions of lanes, bars and arrows."""

    def __init__(self, names: Mapping[int, str], courses: Iterable[JobCourse], steps: int) -> None:
        self.names = names
        self.steps = steps
        self.scale = -(-steps // MOST_COLUMNS)
        self.width = WIDE if steps <= FEW_COLUMNS * self.scale else NARROW
        by_worker: dict[int, list[JobCourse]] = defaultdict(list)
        for course in courses:
            by_worker[course.job.worker].append(course)
        self.rows = {number: self._rows(by_worker[number]) for number in names}
        self.lanes: dict[int, TimelineLane] = {}
        top = 0
        for number, name in names.items():
            height = HEAD + BAR * len(self.rows[number])
            self.lanes[number] = TimelineLane(name, top, height)
            top += height

    def column(self, step: int) -> int:
        """Return the column of the drawing in which a step is shown. Events before the first step are
        shown in the first column."""
        return (max(step, 1) - 1) // self.scale

    def name(self, number: int | None) -> str:
        """Return the name of a member; None stands for the system."""
        return "The platform" if number is None else self.names.get(number, f"Member {number}")

    def _rows(self, courses: Sequence[JobCourse]) -> list[list[JobCourse]]:
        """Return the jobs in rows, so that jobs in the same row do not overlap."""
        rows: list[list[JobCourse]] = []
        for course in courses:
            free = (row for row in rows if self._end(row[-1]) < self.column(course.job.step))
            row = next(free, None)
            if row is None:
                rows.append([course])
            else:
                row.append(course)
        return rows

    def _end(self, course: JobCourse) -> int:
        """Return the last column of a job: that of its last change or, for an open job, that of the end of
        the episode."""
        return self.column(self.steps if course.job.is_open else course.job.changed)

    def bars(self) -> Iterator[JobBar]:
        """Yield the bar of each job."""
        for number, rows in self.rows.items():
            for place, row in enumerate(rows):
                for course in row:
                    yield self._bar(course, self.lanes[number].top + HEAD + BAR * place)

    def _bar(self, course: JobCourse, y: int) -> JobBar:
        job, first = course.job, self.column(course.job.step)
        width = (self._end(course) - first + 1) * self.width - GAP
        state = job.state.replace("_", " ")
        label = f"{job.number} {state}"
        room = int(width / LETTER)
        when = f"steps {job.step} to {job.changed}" if job.changed > job.step else f"step {job.step}"
        words = f"Job {job.number}, {self._described(job)}: {state}, {when}"
        marks = (self.column(at) * self.width for name, at in course.reached.items() if name in MARKED)
        inside = tuple(sorted({x for x in marks if first * self.width < x}))
        shown = label if len(label) <= room else str(job.number)
        return JobBar(first * self.width + 1, y, width, job.state, shown, words, first, inside)

    def _described(self, job: Job) -> str:
        return f"{self.name(job.giver)} to {self.name(job.worker)}: {_short(job.text)}"

    def arrows(self, messages: Sequence[TeamMessage]) -> Iterator[MessageArrow]:
        """Yield an arrow for each message and addressee. Arrows in one column are side by side."""
        by_column: dict[int, list[TeamMessage]] = defaultdict(list)
        for message in messages:
            by_column[self.column(message.step)].append(message)
        for column, theirs in by_column.items():
            for place, message in enumerate(theirs, start=1):
                x = round(column * self.width + self.width * place / (len(theirs) + 1), 1)
                yield from self._arrows(message, column, x)

    def _arrows(self, message: TeamMessage, column: int, x: float) -> Iterator[MessageArrow]:
        sender = None if message.sender is None else self.lanes.get(message.sender)
        for number in message.to:
            if lane := self.lanes.get(number):
                words = (
                    f"Step {message.step}, {self.name(message.sender)} to {self.name(number)}, "
                    f"{message.kind}: {_short(message.text)}"
                )
                begin = lane.line if sender is None else sender.line
                yield MessageArrow(x, begin, lane.line, sender in (None, lane), words, column)

    def events(self, messages: Sequence[TeamMessage]) -> Iterator[TimelineEvent]:
        """Yield the rows of the table below the drawing: each message, with the changes of jobs that it
        caused."""
        changed: dict[int, list[str]] = defaultdict(list)
        for message, job in job_changes(messages):
            changed[message.number].append(f"job {job.number} {job.state.replace('_', ' ')}")
        for message in messages:
            who = f"{self.name(message.sender)} to {', '.join(map(self.name, message.to))}"
            what = "; ".join([message.kind, *dict.fromkeys(changed[message.number])])
            if message.kind == INFORM and PASSED_ON in message.data:
                what = f"{what}; passes on job {message.data[PASSED_ON]}"
            column = self.column(message.step)
            yield TimelineEvent(message.step, column, who, what, _short(message.text))


MARKED = frozenset({"accepted", "started"})
"""States whose beginning has a mark in the bar."""


def _short(text: str) -> str:
    return text if len(text) <= TEXT_LETTERS else f"{text[: TEXT_LETTERS - 1]}…"
