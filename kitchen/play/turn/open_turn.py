"""Define `OpenTurn`, the step of an episode that waits for commands.

It holds the players, the commands given so far, and the world before the step. `turn_cache` reads and caches
turns, `turn_rules` has the rules, and `step_store` stores changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property

from django.db.models import OuterRef, Q, Subquery

from kitchen.agents.agent_team import DecisionMade
from kitchen.contract.agent import REASON_TO_ANSWER
from kitchen.contract.automatic_commands import Plan
from kitchen.contract.mailbox import HEARD_KEY, Mailbox
from kitchen.contract.world import Event, Intent, Json, World
from kitchen.infra.database_writes import RowWriter
from kitchen.play.models import Decision, Episode, Message, Mind, Seat, SeatCommand, Step
from kitchen.play.policies.policy_storage import KIND as POLICY
from kitchen.play.policies.policy_storage import copy_to_this_machine
from kitchen.play.turn.decision_records import stored_intents
from kitchen.play.turn.state_store import (
    LargeParts,
    PastStep,
    TurnWorld,
    json_round_trip,
)
from kitchen.play.turn.step_timer import PEOPLE_CODES
from kitchen.play.turn.turn_claims import MindClaim
from kitchen.play.turn.websocket_messages import TurnStamp, seat_changes, stamp_time

PAST_STEPS_KEPT = 8
"""Number of past steps held in memory: as many as a page shows under *what just happened*."""


def effective_decisions(episode: Episode) -> Q:
    """Return a query filter for the decisions that count for the agents' memories. These are the decisions
    for finished steps, and answers to messages in the current step.

    If members speak in turns, decisions for the current step are included.
    """
    if episode.team and episode.team.takes_turns:
        return Q(step__lte=episode.step + 1)
    return Q(step__lte=episode.step) | Q(step=episode.step + 1, because=REASON_TO_ANSWER)


class OpenTurn:
    """The open step of an episode. Further data, such as messages, are read from the database when first
    used."""

    store = RowWriter()
    """Writes the rows of the turn."""
    is_past = False
    """True for a step of a replay, in which nobody waits for anybody."""
    _parts: LargeParts | None = None
    """Large parts of the state in memory when the turn began."""
    _live: World | None = None
    """The world object in memory when the turn began, if its world is `costly`."""

    def __init__(self, episode: Episode, seats: Iterable[Seat]) -> None:
        self.begin_anew(episode, seats)

    def begin_anew(self, episode: Episode, seats: Iterable[Seat]) -> None:
        """Replace all data of this turn with those of the stored `episode` and its `seats`. Large parts of
        the world's state that are already in memory are kept, and so is the world object if it is `costly`.
        They are brought up to date when the world is next used."""
        known = self.state.known_parts() if "state" in vars(self) else self._parts
        live = self.state.live_world() if "state" in vars(self) else self._live
        vars(self).clear()
        self._parts, self._live = known, live
        self.episode = episode
        self.seats = tuple(seats)
        self.acting = tuple(seat for seat in self.seats if seat.acts)
        self.numbers = {seat.number for seat in self.acting}
        self.people = {seat.number for seat in self.acting if seat.mind_id is None}
        """Seat numbers of the people who act."""
        apart = [seat for seat in self.seats if not seat.acts]
        self.leaders = {seat.number for seat in apart if seat.mind_id is None}
        """Seat numbers of people who only instruct others and do not act."""
        self.leading_minds = {seat.number for seat in apart if seat.mind_id is not None}
        """Seat numbers of agents that only instruct others and do not act."""
        self.decided: set[int] = set()
        """Those of the `leading_minds` and `called` that have decided on this step."""
        self.called: set[int] = set()
        """Numbers of agents that the schedule asks in this step although all of their seats are busy."""
        self.given: dict[int, SeatCommand] = {}
        self.is_read = False
        """True once the given commands were read from the database. Until then `given` means nothing."""
        self.standing: dict[int, MindClaim] = {}
        self.noted: list[Event] = []
        """Events that the system adds to the log of the coming step."""
        self.due_decisions: list[DecisionMade] = []
        """Delayed decisions that take effect in the open step, while their transaction lasts."""
        self._sent: list[Message] = []
        self.remembered: set[int] = set()
        """Ids of the agents that decided in this turn, in this process."""

    @property
    def step(self) -> int:
        """Return the number of the open step. The first step is 1."""
        return self.episode.step + 1

    @property
    def is_open(self) -> bool:
        """Return True while the episode is being played."""
        return self.episode.status == Episode.Status.PLAYING

    @cached_property
    def state(self) -> TurnWorld:
        """Return the stored state of the world before the current step, including its large parts."""
        return TurnWorld(self.episode, self._parts, live=self._live)

    @property
    def world(self) -> World:
        """Return the world before the open step. Raises StateError if the stored state cannot be read."""
        return self.state.world

    @cached_property
    def past(self) -> deque[PastStep]:
        """Return the last steps, newest first: at most `PAST_STEPS_KEPT`."""
        if not self.episode.step:
            return deque(maxlen=PAST_STEPS_KEPT)
        rows = Step.objects.filter(episode=self.episode, number__lte=self.episode.step).order_by("-number")
        past = (PastStep(row.number, row.commands, row.events, row.chain) for row in rows[:PAST_STEPS_KEPT])
        return deque(past, PAST_STEPS_KEPT)

    @cached_property
    def minds(self) -> list[Mind]:
        """Return the agents of the episode, ordered by number. An agent whose seat a person took is left
        out."""
        if self.numbers == self.people:
            return []
        seated = {seat.mind_id for seat in self.seats}
        minds = [mind for mind in Mind.objects.filter(episode=self.episode) if mind.pk in seated]
        copy_to_this_machine(mind.settings for mind in minds if mind.kind == POLICY)
        return minds

    @cached_property
    def memories(self) -> dict[int, Json]:
        """Return the memory of each agent, by agent id, from its last decision that had an effect."""
        rows = Decision.objects.filter(effective_decisions(self.episode), mind=OuterRef("pk"), dropped="")
        rows = rows.order_by("-step", "-pk")
        last = Mind.objects.filter(episode=self.episode).annotate(last=Subquery(rows.values("memory")[:1]))
        return dict(last.order_by().values_list("pk", "last"))

    @cached_property
    def heard_in_step(self) -> dict[int, list[int]]:
        """Return which messages each agent knew when it answered in the current step: for each answer, the
        number of the last message. The keys are agent ids."""
        rows = Decision.objects.filter(
            mind__in=self.minds, step=self.step, because=REASON_TO_ANSWER, dropped=""
        )
        heard: dict[int, list[int]] = {mind.pk: [] for mind in self.minds}
        for mind, note in rows.order_by("number").values_list("mind", "note"):
            heard[mind].append(note[HEARD_KEY])
        return heard

    @cached_property
    def intents(self) -> dict[int, Intent]:
        """Return the intents that agents stated with their last commands (what they are about to do), by
        seat. Empty if the episode does not show intents.

        Decisions for the open step are not used, even if they are already stored.
        """
        return stored_intents(self.episode) if self.episode.shows_intents and self.episode.step else {}

    @cached_property
    def briefs(self) -> dict[int, dict[str, Json]]:
        """Return the facts of the world that each seat knows from the beginning and that never change, by
        seat."""
        return {number: self.world.brief(number) for number in self.numbers}

    @property
    def plans(self) -> dict[int, Plan]:
        """Return the plan of each seat that has one: commands for the steps after this one, which run
        without asking."""
        return {int(seat): Plan.read(stored) for seat, stored in (self.episode.plans or {}).items()}

    @property
    def pages(self) -> dict[int, str]:
        """Return the id of the browser page that plays each seat, by seat. Empty text if no page has
        played it."""
        return {seat.number: seat.page for seat in self.seats}

    @property
    def stamp(self) -> TurnStamp:
        """Return the version of the episode's state. Pages compare it to detect a change."""
        episode = self.episode
        return (
            episode.step,
            str(episode.status),
            stamp_time(episode.turn_closes_at, episode.asked_at),
            sum(row.chosen_by in PEOPLE_CODES for row in self.given.values()),
            episode.messages,
            seat_changes(episode.gone),
        )

    @property
    def sent(self) -> list[Message]:
        """Return all messages that members have sent so far, in order."""
        if len(self._sent) < self.episode.messages:
            rows = Message.objects.filter(episode=self.episode, number__gt=len(self._sent))
            self._sent += rows.filter(number__lte=self.episode.messages).order_by("number")
        return self._sent

    @cached_property
    def mailbox(self) -> Mailbox | None:
        """Return the messages processed so far, with the rules for new messages. None if nobody can send
        messages. Use `conversation.mailbox_of` to get the mailbox with all messages."""
        return Mailbox(self.episode.team) if self.episode.team else None

    @property
    def is_probing(self) -> bool:
        """Return True while a probe holds the game."""
        return self.is_open and self.episode.probing and not self.is_past

    @property
    def probed_seats(self) -> set[int]:
        """Return the seats of the people who still have to answer the probes that hold the game."""
        if not self.is_probing:
            return set()
        return {*self.probe_state["hold"]["seats"]} & (self.people | self.leaders)

    @property
    def probe_state(self) -> dict[str, Json]:
        """Return what is stored of the episode's probes (`kitchen.contract.probes.HoldState`)."""
        return self.episode.probe_state or {}

    @property
    def may_act(self) -> set[int]:
        """Return seats without a command that may act in the current step. The step does not wait for
        them."""
        return {
            seat.number
            for seat in self.acting
            if seat.may_act_in == self.step and seat.number not in self.given
        }

    @property
    def can_wait_for_leaders(self) -> bool:
        """Return whether steps can wait for people who lead without a seat."""
        return bool(self.leaders) and self.episode.team is not None and self.episode.team.asks_leaders

    @property
    def people_to_answer(self) -> set[int]:
        """Return the seats of people for whom the step waits although they command no seat in it. They are
        busy and have to answer a message, or they lead without a seat and have not given all jobs."""
        awaited = (seat for seat in self.seats if seat.answer_awaited_in == self.step)
        return {seat.number for seat in awaited if seat.mind_id is None}

    @property
    def awaited_minds(self) -> set[int]:
        """Return the numbers of agents for which the step still waits although they command no seat in it.
        They lead other members, or the schedule asks them while the actions of their seats continue."""
        idle = {seat.number for seat in self.seats if seat.may_act_in == self.step}
        return (self.leading_minds - idle | self.called) - self.decided

    @property
    def asked_at(self) -> datetime:
        """Return the time from which the people's time limit runs: the opening of the step, or the last
        restart by a message."""
        return self.episode.asked_at or self.episode.turn_opened_at

    def remember(self, decisions: Sequence[Decision]) -> None:
        """Store the memories of these new decisions as the agents' current memories."""
        self.remembered |= {row.mind_id for row in decisions}
        vars(self).pop("heard_in_step", None)
        if "memories" in vars(self):
            self.memories.update({row.mind_id: json_round_trip(row.memory) for row in decisions})

    def forget_memories(self) -> None:
        """Discard the cached data of the agents' decisions: their memories, and the messages that they had
        received in this step. Both are read again when needed."""
        vars(self).pop("memories", None)
        vars(self).pop("heard_in_step", None)

    def forget_decisions(self) -> None:
        """Discard the cached data about decisions for the step that was just taken. Memories stay cached if
        this process made all of these decisions."""
        if self.remembered != {seat.mind_id for seat in self.seats if seat.mind_id is not None}:
            self.forget_memories()  # another process decided
        self.remembered = set()
        vars(self).pop("intents", None)
        vars(self).pop("heard_in_step", None)
