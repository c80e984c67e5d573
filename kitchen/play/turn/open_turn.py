"""The open step of an episode: which commands are in, and taking the step once all are.

`turn_cache` reads a turn and keeps it. `change_episode` changes it inside its transactions.
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
"""For so long a step stays open in which no person is asked and one may act: they see it, and can stop."""
PAST_STEPS_KEPT = 8
"""Past steps that are held: as many as a page shows of *what just happened*."""


class StepTakenError(RuntimeError):
    """Two processes took the same step; the second is rolled back whole."""


def effective_decisions(episode: Episode) -> Q:
    """Decisions from which a mind goes on: on steps that are taken, and answers in the open one."""
    return Q(step__lte=episode.step) | Q(step=episode.step + 1, because=REASON_TO_ANSWER)


class OpenTurn:
    """The step that can be commanded now, with the commands that are in and the world before it."""

    store = RowWriter()
    """Where its rows go."""

    def __init__(self, episode: Episode, seats: Iterable[Seat]) -> None:
        self.begin_anew(episode, seats)

    def begin_anew(self, episode: Episode, seats: Iterable[Seat]) -> None:
        """Know what is stored. Of what was known before only the large parts of the state are kept: what was
        stored of them later is read when the world is asked for."""
        known = self._known_parts() if vars(self) else None
        vars(self).clear()
        self.episode = episode
        self.seats = tuple(seats)
        self.acting = tuple(seat for seat in self.seats if seat.acts)
        self.numbers = {seat.number for seat in self.acting}
        self.people = {seat.number for seat in self.acting if seat.is_person}
        """Those who act: the step waits for no other person."""
        self.leaders = {seat.number for seat in self.seats if not seat.acts}
        """People who only say what others are to do."""
        self.given: dict[int, SeatCommand] = {}
        self.is_read = False
        """What is given was read; until then nothing is known of it."""
        self.standing: dict[int, MindClaim] = {}
        self._world: World | None = None
        self._state: WorldState | None = None
        self._parts: LargeParts | None = known
        """The large parts of the state as they were read, until the world has them; None: read all."""
        self._lengths: dict[str, int] = {}
        """As `LargeParts` has them."""
        self._sent: list[Message] = []
        self._remembered: set[int] = set()
        self.noted: list[Event] = []
        """What the house has to tell in the log of the coming step."""

    @property
    def step(self) -> int:
        """The number of the open step; the first is 1."""
        return self.episode.step + 1

    @property
    def is_open(self) -> bool:
        """The episode is played."""
        return self.episode.status == Episode.Status.PLAYING

    @property
    def world(self) -> World:
        """The world at the present state; StateError if it cannot be read."""
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
        """The large parts of the state as this turn knows them."""
        if self._world is None:
            return self._parts
        return LargeParts(self.episode.key, self.episode.step, self._world.large_parts(), self._lengths)

    @cached_property
    def past(self) -> deque[PastStep]:
        """The last steps, newest first."""
        if not self.episode.step:
            return deque(maxlen=PAST_STEPS_KEPT)
        rows = Step.objects.filter(episode=self.episode, number__lte=self.episode.step).order_by("-number")
        past = (PastStep(row.number, row.commands, row.events, row.chain) for row in rows[:PAST_STEPS_KEPT])
        return deque(past, PAST_STEPS_KEPT)

    @property
    def chain(self) -> str:
        """Of the log up to the last step that is taken."""
        if not self.episode.step:
            return first_chain_hash(self.episode)
        return (self.past[0].chain if self.past else "") or compute_chain_hash(self.episode)

    @cached_property
    def minds(self) -> list[Mind]:
        """The co-players in order."""
        if self.numbers == self.people:
            return []
        return list(Mind.objects.filter(episode=self.episode))

    @cached_property
    def memories(self) -> dict[int, Json]:
        """What each mind, by its id, wanted to remember of the steps that are taken, of what it decided in
        time."""
        rows = Decision.objects.filter(effective_decisions(self.episode), mind=OuterRef("pk"), dropped="")
        rows = rows.order_by("-step", "-pk")
        last = Mind.objects.filter(episode=self.episode).annotate(last=Subquery(rows.values("memory")[:1]))
        return dict(last.order_by().values_list("pk", "last"))

    @cached_property
    def intents(self) -> dict[int, Intent]:
        """What co-players said of what they will do next, where the episode shows it: never of this step's
        decisions, which may be in."""
        return stored_intents(self.episode) if self.episode.shows_intents and self.episode.step else {}

    @cached_property
    def briefs(self) -> dict[int, dict[str, Json]]:
        """What each seat knows that never changes."""
        return {number: self.world.brief(number) for number in self.numbers}

    @property
    def pages(self) -> dict[int, str]:
        """The browser's page that plays each seat."""
        return {seat.number: seat.page for seat in self.seats}

    @property
    def stamp(self) -> TurnStamp:
        """How the episode stands, for pages to compare."""
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
        """What members have said to one another so far, in order."""
        if len(self._sent) < self.episode.messages:
            rows = Message.objects.filter(episode=self.episode, number__gt=len(self._sent))
            self._sent += rows.filter(number__lte=self.episode.messages).order_by("number")
        return self._sent

    @cached_property
    def mailbox(self) -> Mailbox | None:
        """Return the messages that were read so far, with the rules for more (`saying.mailbox_of`); None
        where nobody says anything."""
        stored = self.episode.organisation
        return Mailbox(Organisation.from_json(stored)) if stored else None

    @property
    def may_act(self) -> set[int]:
        """Seats without a command that the step does not wait for, and that may act in it all the same."""
        return {
            seat.number
            for seat in self.acting
            if seat.may_act_in == self.step and seat.number not in self.given
        }

    @property
    def is_complete(self) -> bool:
        """Every seat that the step waits for has its command."""
        return self.numbers <= self.given.keys() | self.may_act

    @property
    def choosing(self) -> set[int]:
        """Seats of people that the step waits for."""
        return self.people - self.given.keys() - self.may_act

    @property
    def is_paced(self) -> bool:
        """No person acts: the time for a step is theirs who lead, and co-players are asked after it."""
        return bool(self.leaders) and not self.people and self.episode.step_seconds is not None

    @property
    def is_held(self) -> bool:
        """Those who lead still have time in this step, or have not opened their page yet."""
        closes_at = self.episode.turn_closes_at
        return self.is_paced and (closes_at is None or timezone.now() < closes_at)

    @property
    def overdue(self) -> list[int]:
        """Seats of people who have not commanded although the turn's time is over."""
        closes_at = self.episode.turn_closes_at
        if not self.is_open or closes_at is None or timezone.now() < closes_at:
            return []
        return sorted(self.choosing)

    @property
    def asked(self) -> set[int]:
        """The seats that have something to choose in this step, and no plan."""
        return {seat for seat in self.numbers - self.may_act if not self._is_filled(seat)}

    def _is_filled(self, seat: int) -> bool:
        row = self.given.get(seat)
        return row is not None and (row.chosen_by == BY_WORLD or row.planned_in is not None)

    @property
    def passed_by(self) -> set[int]:
        """Those that have nothing to choose, and cannot act."""
        return {seat for seat, row in self.given.items() if row.chosen_by == BY_WORLD}

    @property
    def _settled(self) -> set[int]:
        """Seats whose command the step does not wait for any more."""
        return self.given.keys() | self.may_act

    @property
    def plans(self) -> dict[int, Plan]:
        """What seats do next, after this step, without being asked."""
        return {int(seat): Plan.read(stored) for seat, stored in (self.episode.plans or {}).items()}

    @property
    def minds_asked(self) -> list[Mind]:
        """The co-players, in order, that have yet to command a seat."""
        open_seats = {seat.mind_id for seat in self.seats if seat.number in self.numbers - self._settled}
        return [mind for mind in self.minds if mind.pk in open_seats]

    @property
    def waits_for_minds(self) -> bool:
        """The people have commanded, or who leads had their time, and there are co-players that have not."""
        all_said = not self.choosing and not self.is_held
        return self.is_open and all_said and not self.is_complete

    @property
    def waiting_minds(self) -> list[int]:
        """The numbers of the co-players that have not commanded all that they are to."""
        return [mind.number for mind in self.minds_asked]

    @property
    def parties(self) -> list[tuple[int, ...]]:
        """Who of those is asked by a task of its own, by number; an empty tuple where one task asks one of
        them after the other, since they know of each other."""
        return [()] if self.episode.knowing == EVERYBODY else [(number,) for number in self.waiting_minds]

    @property
    def thinking_seconds(self) -> float:
        """For so long co-players think at least, if any of them is asked."""
        return self.episode.thinking_seconds if self.asked - self.people else 0.0

    @property
    def pause_seconds(self) -> float:
        """For so long the step stays open at least, because a person may act in it and none is asked: longer
        where the condition makes co-players think for longer. Programs that take part are not held up."""
        pauses = not self.episode.synthetic and self.people & self.may_act and not self.people & self.asked
        return max(PAUSE_SECONDS, self.episode.thinking_seconds) if pauses else 0.0

    @property
    def due_at(self) -> datetime:
        """When it may run at the earliest: co-players think for at least so long from the moment at which
        the turn came to them, that is, when the last person had commanded; and people see it for a moment
        in which they may act."""
        came = (row.received_at for seat, row in self.given.items() if seat in self.people)
        opened_at = (self.is_paced and self.episode.turn_closes_at) or self.episode.turn_opened_at
        thought_at = max(came, default=opened_at) + timedelta(seconds=self.thinking_seconds)
        return max(thought_at, self.episode.turn_opened_at + timedelta(seconds=self.pause_seconds))

    def add(self, rows: Sequence[SeatCommand]) -> None:
        """More commands are in, and the plans that they begin; they are stored."""
        self.store.insert(SeatCommand, [_row_values(row) for row in rows])
        self.given |= {row.seat: row for row in rows}
        if begun := {row.seat: _begun_with(row) for row in rows if row.to_follow}:
            before = self.plans
            begun = {seat: plan.in_place_of(before.get(seat)) for seat, plan in begun.items()}
            self.plan({**before, **begun})

    def replan(self, seat: int, then: Sequence[Command], *, chosen_by: str, fallback: str = "") -> None:
        """A new plan for the steps after this one takes the place of what is left of this seat's."""
        plan = Plan(tuple(then), chosen_by, fallback, self.step)
        self.plan({**self.plans, seat: plan.in_place_of(self.plans.get(seat))})

    def plan(self, plans: Mapping[int, Plan]) -> None:
        """These are the plans from now on; they are stored."""
        self.episode.plans = _stored_plans(plans)
        self.store.change(Episode, {"plans": self.episode.plans}, where={"id": self.episode.pk})

    def fill(self) -> None:
        """Give the commands of the seats that are not asked in the first step. Needs the transaction that
        opened it."""
        self._fill(self._opening(self.world))

    def _opening(self, world: World) -> TurnOpening:
        """What is settled of a step that opens with the world in this state."""
        return open_turn(world, self.numbers, self.plans, passes_by=self.episode.passes_by)

    def _fill(self, begins: TurnOpening) -> None:
        """Where a clock takes the steps, who is not asked cannot act."""
        free = set() if self.episode.tick_ms else begins.may_act
        self.add([self.row(**asdict(each)) for each in begins.filled if each.seat not in free])
        for seat in free:
            self._may_act(seat, self.step)

    def ask_after_all(self, seat: int) -> None:
        """Have the step wait for this seat, which may act in it. It is stored."""
        self._may_act(seat, None)

    def _may_act(self, seat: int, step: int | None) -> None:
        where = {"episode_id": self.episode.pk, "number": seat}
        self.store.change(Seat, {"may_act_in": step}, where=where)
        next(each for each in self.seats if each.number == seat).may_act_in = step

    @property
    def left_idle(self) -> list[tuple[int, Command]]:
        """What seats do that may act, where nobody commands them."""
        return [(seat, get_world(self.episode.world).idle) for seat in sorted(self.may_act)]

    def row(self, seat: int, command: Command, **more: Any) -> SeatCommand:
        """A command for this step, to be added; `more` are its other fields."""
        row = SeatCommand(episode_id=self.episode.pk, step=self.step, seat=seat, **more)
        row.command = list(command)
        return row

    def running_order(self, more: Iterable[tuple[int, Command]] = ()) -> list[tuple[int, Command]]:
        """The commands, and those that come `more`: people first, by seat; then co-players, mind by mind,
        whichever decided first, in the order in which their minds want them run."""
        rows = [(seat, state_store.command_from_json(row.command)) for seat, row in self.given.items()]
        rows += more
        return sorted(rows, key=lambda each: self._order.get(each[0], (0, 0)))

    @cached_property
    def _order(self) -> dict[int, tuple[int, int]]:
        """When each seat's command comes; ids of minds are in their order."""
        return {seat.number: (seat.mind_id or 0, 0 if seat.mind_id else seat.number) for seat in self.seats}

    def earlier(self, seat: int) -> tuple[int, ...]:
        """The seats whose commands run before that of this person."""
        return tuple(number for number in self.people if number < seat)

    def work_out(self, commands: Sequence[tuple[int, Command]]) -> ComputedStep:
        """What comes of these commands. The turn's own world is taken for it: it is read anew if somebody
        asks for it before the step is taken."""
        world = self.world
        self._state = self._state or world.frozen_state()
        self._world = None
        events = state_store.json_round_trip([event.to_json() for event in world.step(commands)])
        return ComputedStep(commands, world, world.frozen_state(), events)

    def take(self, ahead: ComputedStep | None = None) -> list[SeatCommand]:
        """The step is taken and stored, and the next one is open, with the commands of seats that are not
        asked; the commands it was taken with. `ahead` is used if it was worked out from the very same
        commands. Needs a transaction around it."""
        if left := self.left_idle:
            self.add([self.row(**asdict(AutomaticCommand(*each))) for each in left])
        commands, rows = self.running_order(), list(self.given.values())
        opened_at, now = self.episode.turn_opened_at, timezone.now()
        if ahead is None or list(ahead.commands) != commands:
            ahead = self.work_out(commands)
        entries = [state_store.command_log_entry(self.given[seat]) for seat, _ in commands]
        chain = self.chain  # with the steps before it, which are read before it is one of them
        status = status_after(self.episode, ahead.world)
        goes_on = status == Episode.Status.PLAYING
        begins = self._opening(ahead.world) if goes_on else drop_plans_at_end(self.plans)
        told = (*begins.broken, *self.noted)
        events = [*ahead.events, *state_store.json_round_trip([event.to_json() for event in told])]
        self._store_state(ahead, status, begins.plans, now)
        chain = self._store_step(chain, entries, events, opened_at, now)
        if self._remembered != {seat.mind_id for seat in self.seats if not seat.is_person}:
            vars(self).pop("memories", None)  # decided elsewhere: what is remembered of it is stored
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
        """Compare and set on the step number: the step that another process has taken is not taken again."""
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
        """Write it down; the chain with it."""
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
        """What minds remember is read anew when it is asked for."""
        vars(self).pop("memories", None)

    @property
    def talks_within(self) -> bool:
        """Minds may answer within the step (`answering`)."""
        stored = self.episode.organisation
        return stored is not None and Organisation.from_json(stored).talks_within

    @property
    def asked_at(self) -> datetime:
        """Since when people are to choose, or to go on talking: since the step opened, or the last answer."""
        return self.episode.asked_at or self.episode.turn_opened_at

    def remember(self, decisions: Sequence[Decision]) -> None:
        """What the minds want to remember of the open step: it is stored with their decisions."""
        self._remembered |= {row.mind_id for row in decisions}
        if "memories" in vars(self):
            self.memories.update({row.mind_id: state_store.json_round_trip(row.memory) for row in decisions})


def status_after(episode: Episode, world: World) -> Episode.Status:
    """How the episode stands with its world in this state: it follows from the state and its goal alone."""
    score, until = world.score(), episode.until or {}
    if until and all((score[name] or 0) >= least for name, least in until.items()):
        return Episode.Status.REACHED
    if world.over:
        return Episode.Status.OVER
    return Episode.Status.CUT_OFF if world.cut_off else Episode.Status.PLAYING


def _begun_with(row: SeatCommand) -> Plan:
    """The plan that this command begins."""
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
