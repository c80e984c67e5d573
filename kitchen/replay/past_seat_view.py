"""Rebuild what the page of one seat showed after some steps, and what was decided then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from kitchen.contract.agent import REASON_JOB, REASON_MESSAGE, REASON_PLAN_BROKEN, REASON_TO_ANSWER
from kitchen.contract.episode_log import ScoredEvent
from kitchen.contract.page import Page, SeatView
from kitchen.play.live import render_page
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import seat_layout, world_panels
from kitchen.play.live.seat_view import seat_view_in_turn
from kitchen.play.models import Decision, Message, Mind
from kitchen.registry.world_registry import get_page
from kitchen.replay.episode_record import (
    CallRecord,
    CommandLine,
    EpisodeRecord,
    command_lines,
    member_label,
    mind_label,
    other_events,
    seat_label,
)
from kitchen.replay.step_replay import PastTurn, world_after_steps


@dataclass(frozen=True, slots=True)
class SeatPageView:
    """The world's own page of one seat."""

    page: Page
    view: SeatView
    panels: Mapping[str, SafeString]
    """Rendered panels by id: the shared ones and the world's."""
    layout: SafeString
    """The panels in the world's layout."""


REASONS_ASKED: Mapping[str, str] = {
    REASON_PLAN_BROKEN: "its plan could not continue",
    REASON_JOB: "there was news of a job",
    REASON_MESSAGE: "something was said to it",
    REASON_TO_ANSWER: "somebody waited for its answer",
}
"""Reasons for asking an agent, other than that it had something to choose."""


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """One agent's decision for a step, and its model calls."""

    who: str
    """The agent's label for staff."""
    mind: Mind
    row: Decision
    calls: tuple[CallRecord, ...]

    @property
    def why(self) -> str:
        """The reason for asking the agent. Empty for the usual one."""
        return REASONS_ASKED.get(self.row.because, "")


@dataclass(frozen=True, slots=True)
class MessageReport:
    """One message, with the labels of its sender and addressees for staff."""

    row: Message
    sender: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step as staff read it."""

    step: int
    commands: tuple[tuple[str, CommandLine], ...]
    """(seat label, command) pairs. Empty if the step was never taken."""
    happened: tuple[str, ...]
    thoughts: tuple[DecisionReport, ...]
    messages: tuple[MessageReport, ...]
    scored: tuple[ScoredEvent, ...] = ()
    """The events of this step that the metrics of the world score."""


def seat_page_after(record: EpisodeRecord, seat: int, steps: int) -> SeatPageView:
    """Rebuild a seat's page after `steps` steps. Raises WorldError if it cannot be played here."""
    turn = PastTurn(record, steps, world_after_steps(record, steps))
    view, page = seat_view_in_turn(turn, seat), get_page(record.episode.world)
    panels = {
        panel.id: render_page.render_panel(panel)
        for panel in (*shared_panels(page, view), *world_panels(page, view))
    }
    return SeatPageView(page, view, panels, seat_layout(page, view, panels))


def report_step(record: EpisodeRecord, step: int) -> StepReport:
    """Return what was decided for this step (from 1, the open one included) and what happened in it."""
    taken = record.steps[step - 1] if step <= len(record.steps) else None
    rows = [row for row in record.decisions if row.step == step]
    lines = command_lines(taken) if taken else ()
    return StepReport(
        step,
        tuple((seat_label(record, line.seat), line) for line in lines),
        other_events(taken) if taken else (),
        tuple(_thought(record, row) for row in rows),
        tuple(_line(record, message) for message in record.messages if message.step == step),
        tuple(event for event in record.scored_events if event.step == step),
    )


def _thought(record: EpisodeRecord, row: Decision) -> DecisionReport:
    mind = record.mind_of[row.mind_id]
    return DecisionReport(mind_label(record, mind), mind, row, tuple(record.calls_of.get(row.pk, ())))


def _line(record: EpisodeRecord, message: Message) -> MessageReport:
    to = tuple(member_label(record, one) for one in message.to)
    return MessageReport(message, member_label(record, message.sender), to)
