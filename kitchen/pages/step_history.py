"""The panels that say what just happened: a list of the last steps, and what is read aloud. Plain Python, no
Django."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView, StepView

_TEMPLATES = "kitchen/pages"


class Happened(NamedTuple):
    """The numbers of the steps that are listed, newest first."""

    steps: tuple[int, ...]


class Line(NamedTuple):
    """What one seat did, and why it came to nothing, if it did."""

    seat: int
    name: str
    text: str
    why: str


class Past(NamedTuple):
    """One step: a line for each seat, and what happened besides, as (kind, text). `completed` and `failed`
    are kinds that have a mark and a colour of their own."""

    number: int
    lines: tuple[Line, ...]
    news: tuple[tuple[str, str], ...]


class Spoken(NamedTuple):
    """What a screen reader says of a step."""

    text: str


def history_panel(view: SeatView, tell: Callable[[StepView], Past]) -> Panel:
    """Return the panel `happened`, with a part for each step that the view remembers."""
    parts = tuple(
        Panel(f"past-{step.number}", f"{_TEMPLATES}/past.jinja", tell(step)) for step in view.history
    )
    shows = Happened(tuple(step.number for step in view.history))
    return Panel("happened", f"{_TEMPLATES}/happened.jinja", shows, parts=parts)


def spoken_panel(view: SeatView, tell: Callable[[StepView], Past]) -> Panel:
    """Return the panel `spoken`: of the last step, why this person's own command came to nothing, and the
    news; not every command."""
    said: list[str] = []
    if view.history:
        last = tell(view.history[0])
        said = [line.why for line in last.lines if line.seat == view.seat and view.acts and line.why]
        said += [text for _, text in last.news]
    return Panel("spoken", f"{_TEMPLATES}/spoken.jinja", Spoken(". ".join(said)))
