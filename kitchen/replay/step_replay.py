"""Replay an episode's steps from its seed and commands, and rebuild a player's page after any step.

`replay_faults` lists differences from the log. `PastTurn` is the state of the episode after a given number of
steps. It is never stored.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.safestring import SafeString

from kitchen.contract.agent import REASON_JOB, REASON_MESSAGE, REASON_PLAN_BROKEN, REASON_TO_ANSWER
from kitchen.contract.automatic_commands import BY_WORLD, NOT_ASKED, THINKING, Plan, may_act
from kitchen.contract.episode_log import CHECKED, ScoredEvent
from kitchen.contract.page import Page
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import CODE_KEY
from kitchen.contract.world import Intent, Json, World, canonical_json
from kitchen.contract.world_errors import WorldError
from kitchen.infra.database_writes import RowWriter
from kitchen.play.episode.log_metrics import has_log_metrics
from kitchen.play.live import render_page
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import seat_layout, world_panels
from kitchen.play.live.seat_view import seat_view_in_turn
from kitchen.play.models import Decision, Episode, Message, Mind, SeatCommand, Step
from kitchen.play.turn import state_store
from kitchen.play.turn.decision_records import INTENTS_KEY
from kitchen.play.turn.open_turn import PAST_STEPS_KEPT, OpenTurn
from kitchen.play.turn.state_store import PastStep, TurnWorld
from kitchen.play.turn.step_store import status_after
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import with_log_metrics
from kitchen.registry.world_registry import get_page, get_world
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
from kitchen.replay.probe_reports import ProbeReport, probe_reports

OTHER_VERSION = "it was played by version {then} of the world; this is version {now}"
NOT_PLAYABLE = "it cannot be played here: {why}"
UNREADABLE = "what was commanded in step {step} cannot be read"
OTHER_STATE = "step {step} leads to another state"
OTHER_EVENTS = "in step {step} something else happens"
OTHER_SCORE = "after step {step} the score is another one"
OTHER_END = "it does not end where the episode stands"
GOES_ON = "its log goes on after step {step}, where it was over"
NOT_EVERY_STEP = "its log does not have every step once"


def initial_world(record: EpisodeRecord) -> World:
    """Create the episode's world before its first step. Raises WorldError or UnknownNameError if the
    episode's version of the world is not available."""
    episode = record.episode
    known = get_world(episode.world)
    if known.version != episode.world_version:
        raise WorldError(OTHER_VERSION.format(then=episode.world_version, now=known.version))
    seats = sum(seat.acts for seat in record.seats)
    world = known.create(seats=seats, settings=episode.settings)
    world.reset(episode.seed)
    return world


def replay_step(world: World, row: Step) -> list[object]:
    """Change `world` by one step with the commands stored in `row`. Return the events of the world as
    JSON."""
    commands = [(each["seat"], tuple(each["command"])) for each in row.commands]
    events: list[object] = state_store.json_round_trip([event.to_json() for event in world.step(commands)])
    return events


def world_after_steps(record: EpisodeRecord, steps: int) -> World:
    """Return the episode's world after `steps` steps. Raises WorldError or UnknownNameError if it is not
    available."""
    world = initial_world(record)
    for row in record.steps[:steps]:
        replay_step(world, row)
    return world


def replay_faults(record: EpisodeRecord, before_step: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Replay the episode, and yield each difference from its log as a sentence. Stops after the first step
    with a difference. Calls `before_step` before each step; its errors end the replay."""
    last = record.episode.step  # in a foreign file this can be any number: allocate nothing of its size
    if len(record.steps) != last or any(row.number != n for n, row in enumerate(record.steps, 1)):
        yield NOT_EVERY_STEP
        return
    try:
        world = initial_world(record)
        for row in record.steps:
            before_step()
            if faults := list(_of_step(world, row, record.episode)):
                yield from faults
                return
    except (WorldError, UnknownNameError) as error:
        yield NOT_PLAYABLE.format(why=error.args[0])
        return
    yield from _of_end(world, record)


def _of_step(world: World, row: Step, episode: Episode) -> Iterator[str]:
    try:
        events = replay_step(world, row)
    except (LookupError, TypeError, ValueError, AttributeError):
        yield UNREADABLE.format(step=row.number)
        return
    if world.state_hash() != row.state_hash:
        yield OTHER_STATE.format(step=row.number)
    if row.events[: len(events)] != events:  # the log has events of the system after those of the world
        yield OTHER_EVENTS.format(step=row.number)
    if canonical_json(world.score()) != canonical_json(row.score):
        yield OTHER_SCORE.format(step=row.number)
    if row.number < episode.step and status_after(episode, world) != Episode.Status.PLAYING:
        yield GOES_ON.format(step=row.number)


def _of_end(world: World, record: EpisodeRecord) -> Iterator[str]:
    episode, score = record.episode, world.score()
    if episode.status != Episode.Status.PLAYING and has_log_metrics(episode.world):
        measured = with_log_metrics(score, record.log)  # an older episode lacks metrics that were added later
        score = {name: value for name, value in measured.items() if name in score or name in episode.score}
    if world.state_hash() != episode.state_hash or canonical_json(score) != canonical_json(episode.score):
        yield OTHER_END


class NothingIsStoredError(RuntimeError):
    """Code tried to store a change of a past turn."""


class _RefusingWriter(RowWriter):
    def insert(self, model: Any, rows: Any) -> None:
        raise NothingIsStoredError

    def change(self, model: Any, fresh: Any, *, where: Any, error_if_unchanged: Any = None) -> None:
        raise NothingIsStoredError


class PastTurn(OpenTurn):
    """The turn after `steps` steps, as it was when that step opened, with the seats' commands of that time.
    It cannot be stored.

    `world` is the world at that time. The turn has all messages of the steps before it, and at least the
    first `messages` of the episode.
    """

    store = _RefusingWriter()
    is_past = True

    def __init__(self, record: EpisodeRecord, steps: int, world: World, messages: int = 0) -> None:
        episode = _as_it_was(record, steps, world)
        episode.messages = max(messages, sum(each.step <= steps for each in record.messages))
        super().__init__(episode, record.seats)
        self.record, self.steps = record, steps
        self.state, self.is_read = TurnWorld(episode, world=world), True
        self._sent = [each for each in record.messages if each.number <= episode.messages]
        self.given = {row.seat: row for row in _settled(record, steps + 1)}
        self._unasked = {
            seat for seat, row in self.given.items() if row.chosen_by == BY_WORLD and may_act(world, seat)
        }
        for seat in self._unasked:  # the world gave it only when the step ran
            del self.given[seat]

    @property
    def may_act(self) -> set[int]:
        """Return seats that were allowed to act in this step, but did nothing. The step did not wait for
        them."""
        return self._unasked

    @cached_property
    def past(self) -> deque[PastStep]:
        """Return the steps before this one, newest first: at most `PAST_STEPS_KEPT`."""
        rows = self.record.steps[max(0, self.steps - PAST_STEPS_KEPT) : self.steps]
        past = (PastStep(row.number, row.commands, row.events, row.chain) for row in reversed(rows))
        return deque(past, PAST_STEPS_KEPT)

    @cached_property
    def minds(self) -> list[Mind]:
        """Return the agents of the episode, ordered by number."""
        return self.record.minds

    @cached_property
    def memories(self) -> dict[int, Json]:
        """Return the memory of each agent, by agent id, from earlier steps and from its answers to
        messages in this step."""
        known = (
            row
            for row in self.record.decisions
            if not row.dropped
            and (row.step <= self.steps or (row.step == self.step and row.because == REASON_TO_ANSWER))
        )
        return {mind.pk: None for mind in self.minds} | {row.mind_id: row.memory for row in known}

    @cached_property
    def intents(self) -> dict[int, Intent]:
        """Return the intents that agents stated with their last commands (what they were about to do), by
        seat. Empty if the episode did not show intents."""
        if not self.episode.shows_intents:
            return {}
        of_step = (row for row in self.record.decisions if row.step == self.steps and not row.dropped)
        notes = [row.note for row in sorted(of_step, key=lambda row: row.pk)]
        stated = [note[INTENTS_KEY] for note in notes if isinstance(note, dict) and INTENTS_KEY in note]
        return {int(seat): intent for each in stated for seat, intent in each.items()}

    @property
    def plans(self) -> dict[int, Plan]:
        """Return the plan that each seat had for later steps. It is reconstructed from commands that were
        carried out or dropped later."""
        found = {seat: _plan_of(self.record, seat, self.steps) for seat in self.numbers}
        return {seat: plan for seat, plan in found.items() if plan is not None}


def _as_it_was(record: EpisodeRecord, steps: int, world: World) -> Episode:
    """Return a copy of the episode's row as it was after `steps` steps."""
    episode, is_last = copy.copy(record.episode), steps >= record.episode.step
    episode.step, episode.score, episode.budget_id = steps, world.score(), None
    if is_last:  # with the metrics computed from the log
        episode.score = {**record.episode.score, **episode.score}
    episode.turn_closes_at = episode.asked_at = None
    episode.probing = False
    if steps:
        episode.turn_opened_at = record.steps[steps - 1].taken_at
    if not is_last:
        episode.status, episode.ended_because = Episode.Status.PLAYING, ""
    gone = {seat: each for seat, each in (episode.gone or {}).items() if each["step"] <= steps + 1}
    episode.gone = gone or None
    return episode


def _settled(record: EpisodeRecord, step: int) -> Iterable[SeatCommand]:
    """Return the commands that were already fixed when the step opened: those of seats with a plan, or
    with nothing to choose."""
    of_step = (row for row in record.commands if row.step == step)
    return [row for row in of_step if row.chosen_by in NOT_ASKED or row.planned_in is not None]


def _plan_of(record: EpisodeRecord, seat: int, steps: int) -> Plan | None:
    """Return the rest of a seat's plan after `steps` steps, reconstructed from later commands of the plan.
    None if the seat had no plan."""
    own = [row for row in record.commands if row.seat == seat]
    thought_in = {row.step for row in own if row.chosen_by == THINKING}
    later = [row for row in own if row.step > steps + 1 and row.planned_in not in thought_in]
    given = next((row.planned_in for row in later if row.planned_in is not None), None)
    broken = _broken(record, seat, steps)
    made_in = given if given is not None else (broken or {}).get("planned_in")
    if made_in is None or made_in > steps:
        return None
    then = [tuple(row.command) for row in later if row.planned_in == made_in]
    if broken and broken["planned_in"] == made_in:
        then += map(tuple, broken["left"])
    first = next(row for row in record.commands if row.seat == seat and row.step == made_in)
    return Plan(tuple(then), first.chosen_by, first.fallback, made_in) if then else None


def _broken(record: EpisodeRecord, seat: int, steps: int) -> dict[str, Any] | None:
    """Return the first event after `steps` steps that says that a plan of this seat was dropped. None if
    there is none."""
    events = (event for row in record.steps[steps:] for event in row.events)
    return next(
        (each for each in events if each["kind"] == REASON_PLAN_BROKEN and each["seat"] == seat), None
    )


@dataclass(frozen=True, slots=True)
class SeatPageView:
    """The page of one seat as it was after a step: its view, and its rendered panels."""

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
    """One agent's decision for a step and its model calls, for staff."""

    who: str
    """The agent's label for staff."""
    mind: Mind
    row: Decision
    calls: tuple[CallRecord, ...]

    @property
    def why(self) -> str:
        """Return the reason why the agent was asked, as text. Empty if it only had to choose a command."""
        return REASONS_ASKED.get(self.row.because, "")


@dataclass(frozen=True, slots=True)
class MessageReport:
    """One message with the labels of its sender and addressees, for staff."""

    row: Message
    sender: str
    to: tuple[str, ...]
    requests: str
    """The commands that the message requests, as text. Empty if its text contains them, or if the world is
    unknown."""


@dataclass(frozen=True, slots=True)
class StepReport:
    """Everything that was decided and happened in one step, for staff."""

    step: int
    commands: tuple[tuple[str, CommandLine], ...]
    """(seat label, command) pairs. Empty if the step was never taken."""
    happened: tuple[str, ...]
    thoughts: tuple[DecisionReport, ...]
    messages: tuple[MessageReport, ...]
    scored: tuple[ScoredEvent, ...] = ()
    """The events of this step that the metrics of the world score."""
    failed: tuple[tuple[str, str, str], ...] = ()
    """(seat label, code, what was checked) of each failed check, if the world lists them."""
    probes: tuple[ProbeReport, ...] = ()
    """The answers to the probes that held the game after this step."""


def seat_page_after(record: EpisodeRecord, seat: int, steps: int) -> SeatPageView:
    """Rebuild a seat's page as it was after `steps` steps. Raises WorldError or UnknownNameError if the
    world is not available."""
    turn = PastTurn(record, steps, world_after_steps(record, steps))
    view, page = seat_view_in_turn(turn, seat), get_page(record.episode.world)
    panels = {
        panel.id: render_page.render_panel(panel)
        for panel in (*shared_panels(page, view), *world_panels(page, view))
    }
    return SeatPageView(page, view, panels, seat_layout(page, view, panels))


def report_step(record: EpisodeRecord, step: int) -> StepReport:
    """Return what was decided for this step and what happened in it. Steps are counted from 1. For the open
    step, there are only decisions and messages."""
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
        tuple(
            (seat_label(record, check.seat), check.code, CHECKED[check.checked])
            for check in record.failed_checks
            if check.step == step
        ),
        probe_reports(record, step),
    )


def _thought(record: EpisodeRecord, row: Decision) -> DecisionReport:
    mind = record.mind_of[row.mind_id]
    return DecisionReport(mind_label(record, mind), mind, row, tuple(record.calls_of.get(row.pk, ())))


def _line(record: EpisodeRecord, message: Message) -> MessageReport:
    to = tuple(member_label(record, one) for one in message.to)
    return MessageReport(message, member_label(record, message.sender), to, _requests(record, message))


def _requests(record: EpisodeRecord, message: Message) -> str:
    if message.data.get(CODE_KEY):
        return ""
    try:
        return get_page(record.episode.world).requests_in_words(message.data)
    except UnknownNameError:
        return ""
