"""Hold one real-time episode in memory: its open turn, the pressed keys, and the times of its steps (ticks).

A tick uses the last key that was pressed since the previous tick. If no key was pressed, it uses a key that
is still held down. A tick needs no database, because its rows go to a buffer (`realtime_storage.TickBuffer`).
If a tick is late by more than a whole tick, the missed times are left out. So episodes whose ticks are spread
over time stay spread (`clock_load.free_phase`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.play.coplayers.agent_situations import AskedMind, commands_and_decisions
from kitchen.play.coplayers.instant_decisions import prepare_agents
from kitchen.play.live.seat_view import MESSAGES_SHOWN, realtime_hint
from kitchen.play.models import Decision, Episode, Message, Seat, SeatCommand
from kitchen.play.turn import state_store, step_timer
from kitchen.play.turn.conversation import (
    is_repeated,
    last_heard_by_mind,
    member_of,
    messages_known_to,
    messages_of_decision,
    new_messages,
)
from kitchen.play.turn.decision_records import known_intents
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.step_store import add_commands, command_row, take_step
from kitchen.play.turn.turn_cache import refresh_turn
from kitchen.play.turn.turn_rules import PROBING
from kitchen.realtime.realtime_agents import RealtimeAgents
from kitchen.realtime.realtime_storage import ClockEpisode, TickBuffer, UnstoredTicks

KEY_TIMEOUT_SECONDS = 5.0
"""Seconds after which a held key counts as released unless its page repeats it."""
MAX_HELD_KEYS = 8
"""Maximum number of keys held down at once."""


class HeldKeys:
    """The keys that one player holds down, and the key pressed last. Times are seconds of one clock."""

    def __init__(self) -> None:
        self.number = 0
        """Number of the last key message received from the page."""
        self.at = 0.0
        """Time at which the key taken last was pressed. For a held key, the time at which it was taken."""
        self._pressed: tuple[Command, float] | None = None
        self._held: dict[Command, float] = {}

    def press(self, command: Command, now: float, number: int = 0) -> None:
        """Record that the key for `command` was pressed or is still down. `number` is the number of the
        browser's message."""
        self.number = number
        if command not in self._held:
            self._pressed = command, now
        self._held[command] = now
        while len(self._held) > MAX_HELD_KEYS:
            del self._held[next(iter(self._held))]

    def release(self, command: Command, number: int = 0) -> None:
        """Record that the key for `command` was released. `number` is the number of the browser's message."""
        self.number = number
        self._held.pop(command, None)

    def let_go(self) -> None:
        """Release all keys. Call this when the player has left or another page plays the seat."""
        self._pressed, self._held, self.number = None, {}, 0

    def to_json(self, now: float) -> Json:
        """Return the keys for another process, with times as seconds before `now`."""
        pressed = [list(self._pressed[0]), now - self._pressed[1]] if self._pressed else None
        return [self.number, pressed, [[list(command), now - at] for command, at in self._held.items()]]

    @classmethod
    def from_json(cls, given: Json, now: float) -> HeldKeys:
        """Return the keys that `to_json` of another process returned."""
        keys = cls()
        keys.number, pressed, held = given
        keys._pressed = (tuple(pressed[0]), now - pressed[1]) if pressed else None
        keys._held = {tuple(command): now - before for command, before in held}
        return keys

    def take(self, now: float) -> Command | None:
        """Return the command of the key pressed last since the previous call or, without one, of a key that
        is still down. None if no key is down."""
        self._held = {command: at for command, at in self._held.items() if now - at < KEY_TIMEOUT_SECONDS}
        held = next(reversed(self._held)) if self._held else None
        command, self.at = self._pressed or (held, now)
        self._pressed = None
        return command


LATE_SECONDS = 0.04
"""Seconds after which a tick counts as late."""
LOST_SECONDS = 0.5
"""Seconds after which a delay counts as lost time, which the log and the page report."""


@dataclass(slots=True)
class TickSchedule:
    """The schedule of one episode's ticks: one every `seconds`. The next one is at the time `due`."""

    seconds: float
    due: float
    late: int = 0
    """Number of late ticks not stored yet."""
    lost_ms: int = 0
    """Milliseconds of lost time not stored yet."""

    def take(self, now: float) -> int:
        """Schedule the next tick, at least half a tick after one that is late by a tick or more. Return how
        many milliseconds late the present tick is; a delay below `LOST_SECONDS` counts as 0."""
        delay = now - self.due
        self.due += self.seconds * (1 if delay < self.seconds else math.ceil(delay / self.seconds + 0.5))
        self.late += delay > LATE_SECONDS
        lost = round(delay * 1000) if delay > LOST_SECONDS else 0
        self.lost_ms += lost
        return lost

    def take_counts(self) -> tuple[int, int]:
        """Return the number of late ticks and the lost milliseconds since the last call."""
        counts = self.late, self.lost_ms
        self.late = self.lost_ms = 0
        return counts


LEAD_IN_SECONDS = 3.0
"""Seconds from the moment at which all have opened their page to the first tick. Shorter for programs."""
HOLD_LEAD_SECONDS = 1.0
"""Seconds from the last answer to a probe to the beginning of the next tick. Shorter for programs."""
TIME_LOST = "time_lost"
"""The event of a step before which the clock stopped."""
DECISION_COLUMNS, MESSAGE_COLUMNS = (
    tuple(one.attname for one in model._meta.concrete_fields if not one.primary_key)
    for model in (Decision, Message)
)


@dataclass(frozen=True, slots=True)
class SeatUpdate:
    """The content that the page of one seat receives after a tick."""

    observation: Mapping[str, Json]
    events: tuple[Event, ...]
    key: int
    """Number of the last key message received from the page."""
    intents: Mapping[int, Intent] | None = None
    """Intents of other seats. None if the page does not show them."""
    errand: Intent | None = None
    """A sensible intent for this seat. None if the page gives no hints."""
    messages: tuple[TeamMessage, ...] = ()
    """The newest messages that the person has sent or received, as many as a page shows."""


def read_realtime_episode(
    one: ClockEpisode, now: float, minds: RealtimeAgents | None = None
) -> RealtimeEpisode | None:
    """Read a claimed real-time episode from the database, ready for its next tick. None if the episode is
    over or erased.

    `now` is the present time of the monotonic clock in seconds. `minds` are the episode's agents, if this
    process has already asked them.
    """
    try:
        turn = OpenTurn(Episode.objects.get(pk=one.episode_id), Seat.objects.filter(episode=one.episode_id))
        refresh_turn(turn)
    except Episode.DoesNotExist:
        return None
    if not turn.is_open or not turn.episode.tick_ms:
        return None
    for _ in (turn.past, turn.minds, turn.memories, turn.briefs, turn.sent):
        pass  # load now, so that a tick needs no query
    turn.world.prepare()
    prepare_agents(turn)
    minds = minds or RealtimeAgents(_heard_before(turn.episode))
    if turn.episode.step:
        return _resumed(turn, one, now, minds)
    return _begun(turn, one, now, minds)


def load_agents(episode_id: int) -> list[Future[object]]:
    """Let this process load what the agents of an episode need before it begins. Return the futures."""
    episode = Episode.objects.filter(pk=episode_id).first()
    return prepare_agents(OpenTurn(episode, episode.seats.all())) if episode else []


def _heard_before(episode: Episode) -> dict[int, int]:
    """Return the number of the last message that each agent knew at its last stored decision, by agent id."""
    known = last_heard_by_mind(episode) if episode.messages else {}
    return {mind: heard.number for mind, heard in known.items()}


def _begun(turn: OpenTurn, one: ClockEpisode, now: float, minds: RealtimeAgents) -> RealtimeEpisode:
    """Start a real-time episode that has no steps yet. Its first tick starts after a wait of
    `LEAD_IN_SECONDS`."""
    lead_in = LEAD_IN_SECONDS / (settings.SYNTHETIC_SPEED if turn.episode.synthetic else 1)
    turn.episode.turn_opened_at = timezone.now() + timedelta(seconds=lead_in)
    return RealtimeEpisode(
        turn, TickSchedule(_seconds(turn), now + lead_in + _seconds(turn)), minds, one.seats_given
    )


def _resumed(turn: OpenTurn, one: ClockEpisode, now: float, minds: RealtimeAgents) -> RealtimeEpisode:
    """Continue a real-time episode with a tick that starts now. The time since the last stored tick is
    recorded as lost."""
    game = RealtimeEpisode(turn, TickSchedule(_seconds(turn), now + _seconds(turn)), minds, one.seats_given)
    was_held = turn.episode.probing or "pause_ms" in (turn.episode.probe_state or {})
    if not was_held:  # the log has the time of a hold apart
        game.lose((timezone.now() - turn.episode.turn_opened_at).total_seconds())
    return game


def _seconds(turn: OpenTurn) -> float:
    return (turn.episode.tick_ms or 0) / 1000


NEWS_SECONDS = 1.0
"""Minimum seconds between two messages to staff that an episode has progressed."""


class RealtimeEpisode:
    """One real-time episode in the memory of the clock process. Times are seconds of a monotonic clock."""

    def __init__(self, turn: OpenTurn, pace: TickSchedule, minds: RealtimeAgents, given: str = "") -> None:
        self.turn, self.pace, self.given = turn, pace, given
        self.ledger, self.minds = TickBuffer(), minds
        self.keys = {seat: HeldKeys() for seat in sorted(turn.people)}
        self._decided = {mind: one.decided for mind, one in turn.standing.items()}
        self.pages = dict(turn.pages)
        self._connections: dict[tuple[int, str], str] = {}
        """The newest connection by seat and page, of those opened since this process owns the episode."""
        self._intents: dict[int, Intent] = {}
        """The intents that agents stated with the last tick, by seat."""
        self._messages: dict[int, tuple[TeamMessage, ...]] = {}
        """The newest messages of each person, by seat."""
        self._messages_read: dict[int, int] = {}
        """The number of messages of the episode of which `_messages` were taken, by seat."""
        self.lost_ms = 0
        """Milliseconds known to be lost before the coming tick."""
        self._buffered_since: float | None = None
        """Time of the oldest tick that is not being stored yet."""
        self._storing_since: float | None = None
        """Time of the oldest tick that is being stored."""
        self._news_due = pace.due
        """Time of the next message to staff."""
        turn.store = self.ledger
        self.minds.ask(turn, pace.seconds)

    @property
    def episode(self) -> Episode:
        """Return the episode's database row with its newest values, which may not be stored yet."""
        return self.turn.episode

    @property
    def is_over(self) -> bool:
        """Return True once the last tick has run."""
        return not self.turn.is_open

    def end_hold(self, state: Json, now: float) -> None:
        """Go on after probes have held the game. `state` is the stored state of the probes. No key is down
        then, and the next tick leaves people time to come back to their keys."""
        self.episode.probing, self.episode.probe_state = False, state
        seconds = HOLD_LEAD_SECONDS / (settings.SYNTHETIC_SPEED if self.episode.synthetic else 1)
        self.pace.due = now + seconds + self.pace.seconds
        for keys in self.keys.values():
            keys.let_go()

    @property
    def is_running(self) -> bool:
        """Return True while the clock takes steps: the episode is not over, and no probe holds it."""
        return not self.is_over and not self.turn.is_probing

    def press(self, seat: int, page: str, command: Command, *, down: bool, number: int, now: float) -> bool:
        """Record that a page pressed (`down`) or released a key. Return False only if the world does not
        accept the key's command.

        Keys of a page that does not play the seat are ignored. `number` is the number of the browser's
        message.
        """
        if seat not in self.keys or self.pages.get(seat) != page or not self.is_running:
            return True
        if not self.turn.world.accepts(seat, command):
            return False
        keys = self.keys[seat]
        keys.press(command, now, number) if down else keys.release(command, number)
        return True

    def say(self, seat: int, page: str, say: MessageDraft, after: int | None) -> str:
        """Send a person's message with the open step. Return the code of its refusal; empty if it was sent,
        or if the page repeats it. `after` is the number of the last own message that the page showed.

        Messages of a page that does not play the seat are refused with the code `elsewhere`.
        """
        if seat not in self.keys or self.pages.get(seat) != page:
            return "elsewhere"
        if self.turn.is_probing:
            return PROBING
        member = member_of(self.turn, seat)
        if member is None:
            return "not_allowed"
        if after is not None and is_repeated(self.turn, member.number, say, after):
            return ""
        rows, code = new_messages(self.turn, member.number, say)
        self._keep(rows)
        return code

    def _keep(self, rows: list[Message]) -> None:
        """Store new messages with the ticks."""
        if rows:
            values = [{name: getattr(row, name) for name in MESSAGE_COLUMNS} for row in rows]
            self.ledger.insert(Message, [{**each, "decision_id": None} for each in values])
            self.ledger.change(Episode, {"messages": rows[-1].number}, where={})

    def sit(self, seat: int, page: str) -> None:
        """Let the page with this id play the seat from now on, with no key down."""
        if seat in self.keys:
            self.pages[seat] = page
            self.keys[seat].let_go()

    def connect(self, seat: int, page: str, connection: str) -> None:
        """Record the name of the newest websocket connection of this page."""
        self._connections[seat, page] = connection

    def leave(self, seat: int, page: str, connection: str) -> None:
        """Release all keys of the page, because its connection has closed. Does nothing if the page has a
        newer connection."""
        is_last = self._connections.get((seat, page), connection) == connection
        if is_last and self.pages.get(seat) == page and seat in self.keys:
            self.keys[seat].let_go()

    def players(self, now: float) -> dict[str, Json]:
        """Return what the database does not know, for the process that takes over: pages, keys, and the
        seconds until the next tick (`due_in`)."""
        return {
            "due_in": self.pace.due - now,
            "keys": [[seat, keys.to_json(now)] for seat, keys in self.keys.items()],
            "pages": list(map(list, self.pages.items())),
            "connections": [[seat, page, name] for (seat, page), name in self._connections.items()],
        }

    def take_over(self, players: Mapping[str, Json], now: float) -> None:
        """Continue at the point where another process stopped. `players` is its result of `players`."""
        self.pace.due = now + min(players["due_in"], self.pace.seconds)
        self.keys |= {seat: HeldKeys.from_json(keys, now) for seat, keys in players["keys"]}
        self.pages |= dict(players["pages"])
        self._connections |= {(seat, page): name for seat, page, name in players["connections"]}

    def knows(self, seat: int, page: str, number: int) -> bool:
        """Return whether the key message with this number, from the page that plays the seat, has been
        received."""
        return self.pages.get(seat) == page and seat in self.keys and number <= self.keys[seat].number

    def lose(self, seconds: float) -> None:
        """Record that `seconds` were lost before the next tick. A loss of at most `LOST_SECONDS` is
        ignored."""
        if seconds > LOST_SECONDS:
            self.lost_ms = round(seconds * 1000)
            self.pace.lost_ms += self.lost_ms

    def tick(self, now: float) -> int:
        """Run the open step with the keys held now and the agents' decisions, then ask the agents for the
        next step. Return the milliseconds lost before the tick."""
        lost = self.lost_ms + self.pace.take(now)
        self.lost_ms = 0
        if lost:
            self.turn.noted.append(Event(TIME_LOST, None, {"milliseconds": lost}))
        asked = self.minds.answers(self.turn)
        given = set(self.turn.given)  # seats that the world does not ask have their commands already
        rows = [*self._of_people(now), *self._of_minds(asked)]
        add_commands(self.turn, [row for row in rows if row.seat not in given])
        take_step(self.turn)
        self._buffered_since = now if self._buffered_since is None else self._buffered_since
        if not self.is_over:
            self.minds.ask(self.turn, self.pace.seconds)
        return lost

    def _of_people(self, now: float) -> list[SeatCommand]:
        return [self._person(seat, keys, now) for seat, keys in self.keys.items()]

    def _person(self, seat: int, keys: HeldKeys, now: float) -> SeatCommand:
        command = keys.take(now)
        if command is None or not self.turn.world.accepts(seat, command):
            return command_row(self.turn, seat, self.turn.world.idle, chosen_by=step_timer.CLOCK)
        came = timezone.now() - timedelta(seconds=now - keys.at)
        return command_row(self.turn, seat, command, chosen_by=step_timer.PERSON, received_at=came)

    def _of_minds(self, asked: list[AskedMind]) -> list[SeatCommand]:
        turn = self.turn
        intents = [one.outcome.decision.intents for one in asked]
        self._intents = {seat: intent for each in intents for seat, intent in each.items()}
        commands, made = commands_and_decisions(asked, step=turn.step, idle=turn.world.idle)
        for each in made:
            each.row.number = self._number(each.row.mind_id)
            self.ledger.called(each.row, each.calls)
            self._keep(messages_of_decision(turn, each.member, each.says, each.row))
        turn.remember([each.row for each in made])
        self.ledger.insert(
            Decision, [{name: getattr(each.row, name) for name in DECISION_COLUMNS} for each in made]
        )
        return [
            command_row(turn, one.seat, one.command, chosen_by=one.chosen_by, fallback=one.fallback)
            for one in commands
        ]

    def _number(self, mind: int) -> int:
        """Return the number of this agent's next decision."""
        self._decided[mind] += 1
        return self._decided[mind]

    def sights(self) -> dict[int, SeatUpdate]:
        """Return by seat what the page of each person receives after the last tick."""
        world, past = self.turn.world, self.turn.past
        last = past[0].events if past else []
        return {
            seat: SeatUpdate(
                world.observe(seat),
                state_store.known_events(world, [seat], last),
                keys.number,
                known_intents(world, seat, self._intents) if self.episode.shows_intents else None,
                realtime_hint(world, seat, self.turn.briefs[seat]) if self.episode.hints else None,
                self._newest_messages(seat),
            )
            for seat, keys in self.keys.items()
        }

    def _newest_messages(self, seat: int) -> tuple[TeamMessage, ...]:
        """Return the newest messages of a person. Only those since the last call are looked at, so that ticks
        do not take longer with each message."""
        read, count = self._messages_read.get(seat, 0), self.episode.messages
        if count > read and (member := member_of(self.turn, seat)):
            new = messages_known_to(self.turn, member.number, after=read)
            self._messages[seat] = (*self._messages.get(seat, ()), *new)[-MESSAGES_SHOWN:]
            self._messages_read[seat] = count
        return self._messages.get(seat, ())

    @property
    def unstored_since(self) -> float | None:
        """Return the time of the oldest tick that is not stored yet. None if all are stored."""
        return self._buffered_since if self._storing_since is None else self._storing_since

    def written(self) -> UnstoredTicks:
        """Return the computed ticks that are not stored yet, for storing. Afterwards call `stored`, or
        `put_back` if storing failed."""
        late, lost = self.pace.take_counts()
        self._storing_since, self._buffered_since = self._buffered_since, None
        episode, audience = self.episode, self.episode.audience if self._take_news() else ""
        return UnstoredTicks(episode.pk, self.ledger.take(), late, lost, audience, str(episode.key))

    def _take_news(self) -> bool:
        """Return whether to notify staff of the present ticks: every `NEWS_SECONDS`, and at the end of the
        episode."""
        due = self.is_over or self.pace.due >= self._news_due
        self._news_due = self.pace.due + NEWS_SECONDS if due else self._news_due
        return due

    def stored(self) -> None:
        """Record that the ticks last returned by `written` are stored."""
        self._storing_since = None

    def put_back(self, written: UnstoredTicks) -> None:
        """Put ticks that could not be stored back into the buffer, so that they are stored with the next
        ones."""
        self.ledger.put_back(written.group)
        self.pace.late, self.pace.lost_ms = self.pace.late + written.late, self.pace.lost_ms + written.lost_ms
        self._buffered_since, self._storing_since = self.unstored_since, None
