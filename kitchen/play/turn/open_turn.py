"""Hold the open step of an episode: its commands so far, and the transition to the next step.

`turn_cache` reads a turn and caches it. `change_episode` changes it inside its transactions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY, REASON_TO_ANSWER
from kitchen.contract.large_state import WorldState
from kitchen.contract.mailbox import Mailbox
from kitchen.contract.organisation import Organisation
from kitchen.contract.planned_commands import (
    BY_WORLD,
    AutomaticCommand,
    Plan,
    TurnOpening,
    drop_plans_at_end,
    open_turn,
)
from kitchen.contract.world import Command, Event, Intent, Json, World, text_hash
from kitchen.infra.database_writes import RawJson, RowWriter
from kitchen.play.models import Decision, Episode, Message, Mind, Seat, SeatCommand, StateChange, Step
from kitchen.play.turn import state_store, step_timer
from kitchen.play.turn.decision_records import stored_intents
from kitchen.play.turn.state_store import (
    ComputedStep,
    LargeParts,
    PastStep,
    compute_chain_hash,
    first_chain_hash,
    next_chain_hash,
    read_verified_parts,
    state_rows_of_step,
)
from kitchen.play.turn.turn_claims import MindClaim
from kitchen.play.turn.websocket_messages import TurnStamp
from kitchen.registry.world_registry import get_world

PAUSE_SECONDS = 0.6
"""Minimum seconds that a step stays open if no person has to choose but one may act. In this time people see
the step and can intervene.
"""
PAST_STEPS_KEPT = 8
"""Number of past steps held in memory: as many as a page shows under *what just happened*."""


class StepTakenError(RuntimeError):
    """Two processes took the same step. The second transaction is rolled back completely."""


def effective_decisions(episode: Episode) -> Q:
    """Return a filter for the decisions that an agent continues from.

    These are the decisions for steps already taken, and the answers to messages in the open step.
    """
    return Q(step__lte=episode.step) | Q(step=episode.step + 1, because=REASON_TO_ANSWER)


class OpenTurn:
    """The open step of an episode: the commands given so far, and the world before the step."""

    store = RowWriter()
    """Writes the rows of the turn."""

    def __init__(self, episode: Episode, seats: Iterable[Seat]) -> None:
        self.begin_anew(episode, seats)

    def begin_anew(self, episode: Episode, seats: Iterable[Seat]) -> None:
        """Forget everything but the large parts of the state, and start from this stored episode and its
        seats.

        Changes of the large parts that were stored later are read when the world is next needed.
        """
        known = self._known_parts() if vars(self) else None
        vars(self).clear()
        self.episode = episode
        self.seats = tuple(seats)
        self.acting = tuple(seat for seat in self.seats if seat.acts)
        self.numbers = {seat.number for seat in self.acting}
        self.people = {seat.number for seat in self.acting if seat.is_person}
        """Seat numbers of the people who act. The step waits for no other person."""
        self.leaders = {seat.number for seat in self.seats if not seat.acts}
        """Seat numbers of people who only instruct others and do not act."""
        self.given: dict[int, SeatCommand] = {}
        self.is_read = False
        """True once the given commands were read from the database. Until then `given` means nothing."""
        self.standing: dict[int, MindClaim] = {}
        self._world: World | None = None
        self._state: WorldState | None = None
        self._parts: LargeParts | None = known
        """The large parts of the state as read, until the world takes them over. None: read all of them."""
        self._lengths: dict[str, int] = {}
        """Characters of changes by part, as in `LargeParts.lengths`."""
        self._sent: list[Message] = []
        self._remembered: set[int] = set()
        self.noted: list[Event] = []
        """Events that the system adds to the log of the coming step."""

    @property
    def step(self) -> int:
        """The number of the open step. The first step is 1."""
        return self.episode.step + 1

    @property
    def is_open(self) -> bool:
        """True while the episode is being played."""
        return self.episode.status == Episode.Status.PLAYING

    @property
    def world(self) -> World:
        """The world in its present state. Raises StateError if the state cannot be read."""
        if self._world is None:
            self._world = self._read_world()
        return self._world

    def _read_world(self) -> World:
        kind = get_world(self.episode.world)
        if self._state:
            return kind.from_dict(self._state.to_dict())
        if not kind.large:
            return state_store.current_world(self.episode)
        parts, self._parts = read_verified_parts(self.episode, self._parts), None
        self._lengths = parts.lengths
        return state_store.world_from_parts(self.episode, parts.maps)

    def _known_parts(self) -> LargeParts | None:
        """Return the large parts of the state that this turn has in memory, or None."""
        if self._world is None:
            return self._parts
        return LargeParts(self.episode.key, self.episode.step, self._world.large_parts(), self._lengths)

    @cached_property
    def past(self) -> deque[PastStep]:
        """The last steps, newest first: at most `PAST_STEPS_KEPT`."""
        if not self.episode.step:
            return deque(maxlen=PAST_STEPS_KEPT)
        rows = Step.objects.filter(episode=self.episode, number__lte=self.episode.step).order_by("-number")
        past = (PastStep(row.number, row.commands, row.events, row.chain) for row in rows[:PAST_STEPS_KEPT])
        return deque(past, PAST_STEPS_KEPT)

    @property
    def chain(self) -> str:
        """The hash chain of the log up to the last step taken."""
        if not self.episode.step:
            return first_chain_hash(self.episode)
        return (self.past[0].chain if self.past else "") or compute_chain_hash(self.episode)

    @cached_property
    def minds(self) -> list[Mind]:
        """The agents of the episode, ordered by number."""
        if self.numbers == self.people:
            return []
        return list(Mind.objects.filter(episode=self.episode))

    @cached_property
    def memories(self) -> dict[int, Json]:
        """The memory of each agent by its id, from its last effective decision that was not dropped."""
        rows = Decision.objects.filter(effective_decisions(self.episode), mind=OuterRef("pk"), dropped="")
        rows = rows.order_by("-step", "-pk")
        last = Mind.objects.filter(episode=self.episode).annotate(last=Subquery(rows.values("memory")[:1]))
        return dict(last.order_by().values_list("pk", "last"))

    @cached_property
    def intents(self) -> dict[int, Intent]:
        """The intents that agents stated for their next commands, by seat. Empty if the episode does not show
        intents.

        They never come from decisions for the open step, which may already be stored.
        """
        return stored_intents(self.episode) if self.episode.shows_intents and self.episode.step else {}

    @cached_property
    def briefs(self) -> dict[int, dict[str, Json]]:
        """The facts that each seat knows and that never change, by seat."""
        return {number: self.world.brief(number) for number in self.numbers}

    @property
    def pages(self) -> dict[int, str]:
        """The id of the browser page that plays each seat, by seat."""
        return {seat.number: seat.page for seat in self.seats}

    @property
    def stamp(self) -> TurnStamp:
        """The version of the episode's state, which pages compare to detect a change."""
        closes, episode = self.episode.turn_closes_at, self.episode
        given = sum(row.chosen_by in step_timer.PEOPLE_CODES for row in self.given.values())
        return (
            episode.step,
            str(episode.status),
            closes.isoformat() if closes else "",
            given,
            episode.messages,
            len(episode.gone or {}),
        )

    @property
    def sent(self) -> list[Message]:
        """All messages that members have sent so far, in order."""
        if len(self._sent) < self.episode.messages:
            rows = Message.objects.filter(episode=self.episode, number__gt=len(self._sent))
            self._sent += rows.filter(number__lte=self.episode.messages).order_by("number")
        return self._sent

    @cached_property
    def mailbox(self) -> Mailbox | None:
        """The messages read so far, with the rules for further ones. None if the members cannot send
        messages.

        See `kitchen.play.turn.conversation`.
        """
        stored = self.episode.organisation
        return Mailbox(Organisation.from_json(stored)) if stored else None

    @property
    def may_act(self) -> set[int]:
        """Seats without a command that may act in this step although the step does not wait for them."""
        return {
            seat.number
            for seat in self.acting
            if seat.may_act_in == self.step and seat.number not in self.given
        }

    @property
    def is_complete(self) -> bool:
        """True if every seat that the step waits for has its command."""
        return self.numbers <= self.given.keys() | self.may_act

    @property
    def choosing(self) -> set[int]:
        """Seats of people that the step still waits for."""
        return self.people - self.given.keys() - self.may_act

    @property
    def is_paced(self) -> bool:
        """True if no person acts and the leaders have limited time for a step. Agents are asked after that
        time.
        """
        return bool(self.leaders) and not self.people and self.episode.step_seconds is not None

    @property
    def is_held(self) -> bool:
        """True while leaders still have time in this step, or have not opened their page yet."""
        closes_at = self.episode.turn_closes_at
        return self.is_paced and (closes_at is None or timezone.now() < closes_at)

    @property
    def overdue(self) -> list[int]:
        """Seats of people who gave no command before the deadline of the step. Empty before the deadline."""
        closes_at = self.episode.turn_closes_at
        if not self.is_open or closes_at is None or timezone.now() < closes_at:
            return []
        return sorted(self.choosing)

    @property
    def asked(self) -> set[int]:
        """Seats that have something to choose in this step and no plan."""
        return {seat for seat in self.numbers - self.may_act if not self._is_filled(seat)}

    def _is_filled(self, seat: int) -> bool:
        row = self.given.get(seat)
        return row is not None and (row.chosen_by == BY_WORLD or row.planned_in is not None)

    @property
    def passed_by(self) -> set[int]:
        """Seats that have nothing to choose in this step and cannot act."""
        return {seat for seat, row in self.given.items() if row.chosen_by == BY_WORLD}

    @property
    def _settled(self) -> set[int]:
        """Seats whose command the step no longer waits for."""
        return self.given.keys() | self.may_act

    @property
    def plans(self) -> dict[int, Plan]:
        """The plan of each seat for the steps after this one, by seat. A plan runs without asking."""
        return {int(seat): Plan.read(stored) for seat, stored in (self.episode.plans or {}).items()}

    @property
    def minds_asked(self) -> list[Mind]:
        """The agents that still have to command a seat, in order."""
        open_seats = {seat.mind_id for seat in self.seats if seat.number in self.numbers - self._settled}
        return [mind for mind in self.minds if mind.pk in open_seats]

    @property
    def waits_for_minds(self) -> bool:
        """True if all people have commanded (or the leaders' time is over) and some agent has not."""
        all_said = not self.choosing and not self.is_held
        return self.is_open and all_said and not self.is_complete

    @property
    def waiting_minds(self) -> list[int]:
        """The numbers of the agents that have not yet given all their commands."""
        return [mind.number for mind in self.minds_asked]

    @property
    def parties(self) -> list[tuple[int, ...]]:
        """The groups of waiting agents, one for each decision task: one agent number in each tuple.

        A single empty tuple means that one task asks all agents one after another, because they know each
        other's commands.
        """
        return [()] if self.episode.knowing == EVERYBODY else [(number,) for number in self.waiting_minds]

    @property
    def thinking_seconds(self) -> float:
        """Minimum seconds that agents think, if any agent is asked. Otherwise 0."""
        return self.episode.thinking_seconds if self.asked - self.people else 0.0

    @property
    def pause_seconds(self) -> float:
        """Minimum seconds that the step stays open because a person may act in it and no person is asked.

        It is longer if the condition makes agents think longer. It is 0 for synthetic episodes, so that
        programs need not wait.
        """
        pauses = not self.episode.synthetic and self.people & self.may_act and not self.people & self.asked
        return max(PAUSE_SECONDS, self.episode.thinking_seconds) if pauses else 0.0

    @property
    def due_at(self) -> datetime:
        """The earliest time at which the step may run.

        Agents think for at least `thinking_seconds` after the last person's command. People see the step for
        at least `pause_seconds`.
        """
        came = (row.received_at for seat, row in self.given.items() if seat in self.people)
        opened_at = (self.is_paced and self.episode.turn_closes_at) or self.episode.turn_opened_at
        thought_at = max(came, default=opened_at) + timedelta(seconds=self.thinking_seconds)
        return max(thought_at, self.episode.turn_opened_at + timedelta(seconds=self.pause_seconds))

    def add(self, rows: Sequence[SeatCommand]) -> None:
        """Store more commands, and the plans that begin with them."""
        self.store.insert(SeatCommand, [_row_values(row) for row in rows])
        self.given |= {row.seat: row for row in rows}
        if begun := {row.seat: _begun_with(row) for row in rows if row.to_follow}:
            before = self.plans
            begun = {seat: plan.in_place_of(before.get(seat)) for seat, plan in begun.items()}
            self.plan({**before, **begun})

    def replan(self, seat: int, then: Sequence[Command], *, chosen_by: str, fallback: str = "") -> None:
        """Replace the rest of this seat's plan with a new plan for the steps after this one."""
        plan = Plan(tuple(then), chosen_by, fallback, self.step)
        self.plan({**self.plans, seat: plan.in_place_of(self.plans.get(seat))})

    def plan(self, plans: Mapping[int, Plan]) -> None:
        """Replace all plans and store them."""
        self.episode.plans = _stored_plans(plans)
        self.store.change(Episode, {"plans": self.episode.plans}, where={"id": self.episode.pk})

    def fill(self) -> None:
        """Give the commands of the seats that are not asked in the first step.

        Call this in the transaction that created the episode.
        """
        self._fill(self._opening(self.world))

    def _opening(self, world: World) -> TurnOpening:
        """Return the automatic commands and plans of a step that opens with the world in this state."""
        return open_turn(world, self.numbers, self.plans, passes_by=self.episode.passes_by)

    def _fill(self, begins: TurnOpening) -> None:
        """Add the automatic commands. In a real-time episode, a seat that is not asked cannot act."""
        free = set() if self.episode.tick_ms else begins.may_act
        self.add([self.row(**asdict(each)) for each in begins.filled if each.seat not in free])
        for seat in free:
            self._may_act(seat, self.step)

    def ask_after_all(self, seat: int) -> None:
        """Make the step wait for this seat, which may act in it, and store that."""
        self._may_act(seat, None)

    def _may_act(self, seat: int, step: int | None) -> None:
        where = {"episode_id": self.episode.pk, "number": seat}
        self.store.change(Seat, {"may_act_in": step}, where=where)
        next(each for each in self.seats if each.number == seat).may_act_in = step

    @property
    def left_idle(self) -> list[tuple[int, Command]]:
        """The idle command for each seat that may act and has no command."""
        return [(seat, get_world(self.episode.world).idle) for seat in sorted(self.may_act)]

    def row(self, seat: int, command: Command, **more: Any) -> SeatCommand:
        """Return a command for this step, not yet added. `more` are the other fields of the row."""
        row = SeatCommand(episode_id=self.episode.pk, step=self.step, seat=seat, **more)
        row.command = list(command)
        return row

    def running_order(self, more: Iterable[tuple[int, Command]] = ()) -> list[tuple[int, Command]]:
        """Return the given commands and `more`, as (seat, command) pairs in the order in which they run.

        People come first, by seat. Agents follow by number, each with its commands in the order it wants. The
        time of a decision does not matter.
        """
        rows = [(seat, state_store.command_from_json(row.command)) for seat, row in self.given.items()]
        rows += more
        return sorted(rows, key=lambda each: self._order.get(each[0], (0, 0)))

    @cached_property
    def _order(self) -> dict[int, tuple[int, int]]:
        """The sort key of each seat for the running order. Ids of agents follow their numbers."""
        return {seat.number: (seat.mind_id or 0, 0 if seat.mind_id else seat.number) for seat in self.seats}

    def earlier(self, seat: int) -> tuple[int, ...]:
        """Return the seats of people whose commands run before the command of this person."""
        return tuple(number for number in self.people if number < seat)

    def work_out(self, commands: Sequence[tuple[int, Command]]) -> ComputedStep:
        """Compute the step that follows from these commands, without taking it.

        This uses up the turn's own world. If the world is needed before the step is taken, it is read again.
        """
        world = self.world
        self._state = self._state or world.frozen_state()
        self._world = None
        events = state_store.json_round_trip([event.to_json() for event in world.step(commands)])
        return ComputedStep(commands, world, world.frozen_state(), events)

    def take(self, ahead: ComputedStep | None = None) -> list[SeatCommand]:
        """Take and store the step, and open the next one with its automatic commands.

        Returns the commands that the step was taken with. `ahead` is used if it was computed from exactly
        these commands. Call this inside a transaction.
        """
        if left := self.left_idle:
            self.add([self.row(**asdict(AutomaticCommand(*each))) for each in left])
        commands, rows = self.running_order(), list(self.given.values())
        opened_at, now = self.episode.turn_opened_at, timezone.now()
        if ahead is None or list(ahead.commands) != commands:
            ahead = self.work_out(commands)
        entries = [state_store.command_log_entry(self.given[seat]) for seat, _ in commands]
        chain = self.chain  # computed before this step joins the past steps
        status = status_after(self.episode, ahead.world)
        goes_on = status == Episode.Status.PLAYING
        begins = self._opening(ahead.world) if goes_on else drop_plans_at_end(self.plans)
        platform_events = (*begins.broken, *self.noted)
        events = [*ahead.events, *state_store.json_round_trip([event.to_json() for event in platform_events])]
        self._store_state(ahead, status, begins.plans, now)
        chain = self._store_step(chain, entries, events, opened_at, now)
        if self._remembered != {seat.mind_id for seat in self.seats if not seat.is_person}:
            vars(self).pop("memories", None)  # another process decided: read the stored memories again
        self._remembered = set()
        vars(self).pop("intents", None)
        self.past.appendleft(PastStep(self.episode.step, entries, events, chain))
        self.given, self.noted = {}, []
        self._world, self._state = ahead.world, ahead.state
        self._fill(begins)
        return rows

    def _store_state(
        self, ahead: ComputedStep, status: Episode.Status, plans: Mapping[int, Plan], now: datetime
    ) -> None:
        """Store the state after the step, if the stored step number and hash are still the old ones.

        Raises StepTakenError if another process has already taken the step.
        """
        episode, world = self.episode, ahead.world
        ended = status != Episode.Status.PLAYING
        fresh = {
            "step": self.step,
            "state_hash": text_hash(ahead.state.text),
            "score": world.score(),
            "status": status,
            "ended_at": now if ended else None,
            "turn_opened_at": now,
            "turn_closes_at": None if ended else step_timer.next_deadline(episode, now),
            "asked_at": None,
            "deciding_until": None,
            "deciding_by": "",
            "plans": _stored_plans(plans),
        }
        before = {"id": episode.pk, "step": episode.step, "state_hash": episode.state_hash}
        if not self.store.change(Episode, {**fresh, "state": RawJson(ahead.state.text)}, where=before):
            raise StepTakenError(f"step {self.step} of episode {episode.key} was taken by another process")
        for name, value in fresh.items():
            setattr(episode, name, value)
        if ahead.state.parts:
            if self._state is None:
                raise RuntimeError(f"step {self.step}: what it changes is not known in this turn")
            rows = state_rows_of_step(episode, self._state, ahead.state, self._lengths)
            self.store.insert(StateChange, list(rows))

    def _store_step(
        self, before: str, entries: list[Json], events: list[Json], opened_at: datetime, now: datetime
    ) -> str:
        """Insert the log row of the step, and return the new hash chain."""
        episode = self.episode
        row = {
            "episode_id": episode.pk,
            "number": episode.step,
            "commands": entries,
            "events": events,
            "state_hash": episode.state_hash,
            "score": episode.score,
            "opened_at": opened_at,
            "taken_at": now,
        }
        chain = next_chain_hash(before, row)
        self.store.insert(Step, [{**row, "chain": chain}])
        return chain

    def forget_memories(self) -> None:
        """Discard the agents' memories, so that they are read again when needed."""
        vars(self).pop("memories", None)

    @property
    def talks_within(self) -> bool:
        """True if agents may answer messages within the step (`kitchen.play.coplayers.answer_messages`)."""
        stored = self.episode.organisation
        return stored is not None and Organisation.from_json(stored).talks_within

    @property
    def asked_at(self) -> datetime:
        """The time since which people can choose or continue the talk: the opening of the step, or the last
        answer.
        """
        return self.episode.asked_at or self.episode.turn_opened_at

    def remember(self, decisions: Sequence[Decision]) -> None:
        """Use the memories of these decisions for the open step from now on. They are stored with the
        decisions.
        """
        self._remembered |= {row.mind_id for row in decisions}
        if "memories" in vars(self):
            self.memories.update({row.mind_id: state_store.json_round_trip(row.memory) for row in decisions})


def status_after(episode: Episode, world: World) -> Episode.Status:
    """Return the status of the episode if the world is in this state. It depends only on the state and the
    goal.
    """
    score, until = world.score(), episode.until or {}
    if until and all((score[name] or 0) >= least for name, least in until.items()):
        return Episode.Status.REACHED
    if world.over:
        return Episode.Status.OVER
    return Episode.Status.CUT_OFF if world.cut_off else Episode.Status.PLAYING


def _begun_with(row: SeatCommand) -> Plan:
    """Return the plan that begins with this command."""
    then = tuple(map(state_store.command_from_json, row.to_follow or ()))
    return Plan(then, row.chosen_by, row.fallback, row.step)


def _stored_plans(plans: Mapping[int, Plan]) -> Json:
    return {str(seat): plan.to_json() for seat, plan in plans.items()} or None


_NAMES = (
    "episode_id",
    "step",
    "seat",
    "command",
    "chosen_by",
    "fallback",
    "received_at",
    "to_follow",
    "planned_in",
)


def _row_values(row: SeatCommand) -> dict[str, Json]:
    return {name: getattr(row, name) for name in _NAMES}
