"""Hold one episode in real time in memory: its turn, the pressed keys, and the schedule of its ticks.

The turn is the one of all live play (`kitchen.play.turn.open_turn`). What it writes goes to a tick buffer
first. Reading an episode needs the database; a tick does not.

Keys: a tick uses the key that was pressed last since the tick before it, once. Without one it uses the key
that is still down and was pressed last. A key that was not repeated for `KEY_TIMEOUT_SECONDS` counts as
released.

Schedule: a tick that is a little late does not move later ticks. If it is late by a whole tick, later ticks
move, so that missed ticks are not played in a rush.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.play.coplayers.ask_agents import AskedMind, commands_and_decisions
from kitchen.play.live.seat_view import realtime_hint
from kitchen.play.models import Decision, Episode, Seat, SeatCommand
from kitchen.play.turn import state_store, step_timer
from kitchen.play.turn.decision_records import known_intents
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_cache import refresh_turn
from kitchen.realtime.realtime_agents import RealtimeAgents
from kitchen.realtime.tick_storage import ClockEpisode, TickBuffer, UnstoredTicks

KEY_TIMEOUT_SECONDS = 5.0
"""Seconds after which a page says again that a key is held down."""
MAX_HELD_KEYS = 8
"""Keys that are held down at once."""


class HeldKeys:
    """Which keys are down, and which was pressed last. Moments are seconds of one clock."""

    def __init__(self) -> None:
        self.number = 0
        """Of the last word of its page that was heard."""
        self.at = 0.0
        """When that was pressed which was taken last; of a key that is held, when it was taken."""
        self._pressed: tuple[Command, float] | None = None
        self._held: dict[Command, float] = {}

    def press(self, command: Command, now: float, number: int = 0) -> None:
        """A key goes down; said again of one that is down, it is held on to."""
        self.number = number
        if command not in self._held:
            self._pressed = command, now
        self._held[command] = now
        while len(self._held) > MAX_HELD_KEYS:
            del self._held[next(iter(self._held))]

    def release(self, command: Command, number: int = 0) -> None:
        """It goes up."""
        self.number = number
        self._held.pop(command, None)

    def let_go(self) -> None:
        """Nobody is at the keys any more, or somebody else is."""
        self._pressed, self._held, self.number = None, {}, 0

    def take(self, now: float) -> Command | None:
        """What counts at this tick; None where no key does."""
        self._held = {command: at for command, at in self._held.items() if now - at < KEY_TIMEOUT_SECONDS}
        held = next(reversed(self._held)) if self._held else None
        command, self.at = self._pressed or (held, now)
        self._pressed = None
        return command


LATE_SECONDS = 0.04
"""Seconds after which a tick counts as late."""
LOST_SECONDS = 0.5
"""And after which its lateness is time that was lost, of which log and page tell."""


@dataclass(slots=True)
class TickSchedule:
    """The ticks of one episode: one every `seconds`, the next at `due`."""

    seconds: float
    due: float
    late: int = 0
    """Ticks that came too late and are not stored as such yet."""
    lost_ms: int = 0
    """Time in which it stood still, likewise."""

    def take(self, now: float) -> int:
        """The tick that is due is taken now, and the next one is due; the milliseconds that were lost before
        it, which for a tick in time are none."""
        behind = now - self.due
        self.due = self.due + self.seconds if behind < self.seconds else now + self.seconds
        self.late += behind > LATE_SECONDS
        lost = round(behind * 1000) if behind > LOST_SECONDS else 0
        self.lost_ms += lost
        return lost

    def told(self) -> tuple[int, int]:
        """What is not stored yet, late ticks and time lost; it is, then."""
        told = self.late, self.lost_ms
        self.late = self.lost_ms = 0
        return told


LEAD_IN_SECONDS = 3.0
"""Seconds from the moment at which all have opened their page to the beginning of the first tick; less
where programs take part."""
TIME_LOST = "time_lost"
"""The event of a step before which the clock stood still."""
DECISION_COLUMNS = tuple(one.attname for one in Decision._meta.concrete_fields if not one.primary_key)


@dataclass(frozen=True, slots=True)
class SeatUpdate:
    """What the page of one seat can be told after a tick."""

    observation: Mapping[str, Json]
    events: tuple[Event, ...]
    key: int
    """The number of the last word of the page that was heard."""
    intents: Mapping[int, Intent] | None = None
    """What other seats are about to do; None where the page does not say it."""
    errand: Intent | None = None
    """What would be good to do; None where the page gives no hints."""


def read_realtime_episode(
    one: ClockEpisode, now: float, minds: RealtimeAgents | None = None
) -> RealtimeEpisode | None:
    """The episode from the database: one that begins, or one with which another owner did not go on. `minds`
    may be asked already. None where it is over."""
    try:
        turn = OpenTurn(Episode.objects.get(pk=one.episode_id), Seat.objects.filter(episode=one.episode_id))
        refresh_turn(turn)
    except Episode.DoesNotExist:
        return None
    if not turn.is_open or not turn.episode.tick_ms:
        return None
    for _ in (turn.past, turn.chain, turn.minds, turn.memories, turn.briefs):
        pass  # a tick reads nothing
    return (_resumed if turn.episode.step else _begun)(turn, one, now, minds or RealtimeAgents())


def _begun(turn: OpenTurn, one: ClockEpisode, now: float, minds: RealtimeAgents) -> RealtimeEpisode:
    """Its first tick begins after the lead-in."""
    lead_in = LEAD_IN_SECONDS / (settings.SYNTHETIC_SPEED if turn.episode.synthetic else 1)
    turn.episode.turn_opened_at = timezone.now() + timedelta(seconds=lead_in)
    return RealtimeEpisode(
        turn, TickSchedule(_seconds(turn), now + lead_in + _seconds(turn)), minds, one.seats_given
    )


def _resumed(turn: OpenTurn, one: ClockEpisode, now: float, minds: RealtimeAgents) -> RealtimeEpisode:
    """Its next tick begins now; time has been lost since the last one that was stored."""
    game = RealtimeEpisode(turn, TickSchedule(_seconds(turn), now + _seconds(turn)), minds, one.seats_given)
    lost = (timezone.now() - turn.episode.turn_opened_at).total_seconds()
    game.lose(lost)
    return game


def _seconds(turn: OpenTurn) -> float:
    return (turn.episode.tick_ms or 0) / 1000


NEWS_SECONDS = 1.0
"""How often staff who look on are told at most that an episode has gone on."""


class RealtimeEpisode:
    """One episode. Moments are seconds of a clock that nobody sets."""

    def __init__(self, turn: OpenTurn, pace: TickSchedule, minds: RealtimeAgents, given: str = "") -> None:
        self.turn, self.pace, self.given = turn, pace, given
        self.ledger, self.minds = TickBuffer(), minds
        self.keys = {seat: HeldKeys() for seat in sorted(turn.people)}
        self._decided = {mind: one.decided for mind, one in turn.standing.items()}
        self.pages = dict(turn.pages)
        self._connections: dict[tuple[int, str], str] = {}
        """By seat and page the connection that came last; none of before another owner went on."""
        self._intents: dict[int, Intent] = {}
        """What minds said with the last tick that they will do next."""
        self.lost_ms = 0
        """Before the coming tick, as far as it is known already."""
        self._kept_since: float | None = None
        """When the oldest tick was taken that nobody has begun to store."""
        self._storing_since: float | None = None
        """Likewise of those that are being stored."""
        self._news_due = pace.due
        """When staff who look on are told next."""
        turn.store = self.ledger
        self.minds.ask(turn, pace.seconds)

    @property
    def episode(self) -> Episode:
        """The row, as it will be stored."""
        return self.turn.episode

    @property
    def is_over(self) -> bool:
        """Its last tick was taken."""
        return not self.turn.is_open

    def press(self, seat: int, page: str, command: Command, *, down: bool, number: int, now: float) -> bool:
        """A key of the page that plays this seat goes down or up; False if it is none of this world's."""
        if seat not in self.keys or self.pages.get(seat) != page or self.is_over:
            return True
        if not self.turn.world.accepts(seat, command):
            return False
        keys = self.keys[seat]
        keys.press(command, now, number) if down else keys.release(command, number)
        return True

    def sit(self, seat: int, page: str) -> None:
        """This page plays the seat from now on, with no key down."""
        if seat in self.keys:
            self.pages[seat] = page
            self.keys[seat].let_go()

    def connect(self, seat: int, page: str, connection: str) -> None:
        """From now on the page is there as long as this connection is."""
        self._connections[seat, page] = connection

    def leave(self, seat: int, page: str, connection: str) -> None:
        """This page has gone, with its keys, unless it has come again over another connection."""
        is_last = self._connections.get((seat, page), connection) == connection
        if is_last and self.pages.get(seat) == page and seat in self.keys:
            self.keys[seat].let_go()

    def lose(self, seconds: float) -> None:
        """So much time was lost before the coming tick: what is less than a pause is none."""
        if seconds > LOST_SECONDS:
            self.lost_ms = round(seconds * 1000)
            self.pace.lost_ms += self.lost_ms

    def tick(self, now: float) -> int:
        """The step that is open is taken with what there is, and kept in the ledger; the milliseconds that
        were lost before it."""
        lost = self.lost_ms + self.pace.take(now)
        self.lost_ms = 0
        if lost:
            self.turn.noted.append(Event(TIME_LOST, None, {"milliseconds": lost}))
        asked = self.minds.answers(self.turn)
        self.turn.add([*self._of_people(now), *self._of_minds(asked)])
        self.turn.take()
        self._kept_since = now if self._kept_since is None else self._kept_since
        if not self.is_over:
            self.minds.ask(self.turn, self.pace.seconds)
        return lost

    def _of_people(self, now: float) -> list[SeatCommand]:
        return [self._person(seat, keys, now) for seat, keys in self.keys.items()]

    def _person(self, seat: int, keys: HeldKeys, now: float) -> SeatCommand:
        command = keys.take(now)
        if command is None or not self.turn.world.accepts(seat, command):
            return self.turn.row(seat, self.turn.world.idle, chosen_by=step_timer.CLOCK)
        came = timezone.now() - timedelta(seconds=now - keys.at)
        return self.turn.row(seat, command, chosen_by=step_timer.PERSON, received_at=came)

    def _of_minds(self, asked: list[AskedMind]) -> list[SeatCommand]:
        turn = self.turn
        said = [one.outcome.decision.intents for one in asked]
        self._intents = {seat: intent for each in said for seat, intent in each.items()}
        commands, made = commands_and_decisions(asked, step=turn.step, idle=turn.world.idle)
        for each in made:
            each.row.number = self._number(each.row.mind_id)
            self.ledger.called(each.row, each.calls)
        turn.remember([each.row for each in made])
        self.ledger.insert(
            Decision, [{name: getattr(each.row, name) for name in DECISION_COLUMNS} for each in made]
        )
        return [
            turn.row(one.seat, one.command, chosen_by=one.chosen_by, fallback=one.fallback)
            for one in commands
        ]

    def _number(self, mind: int) -> int:
        """Of the decision that this mind has made now."""
        self._decided[mind] += 1
        return self._decided[mind]

    def sights(self) -> dict[int, SeatUpdate]:
        """What the page of each person's seat can be told now, of the last tick."""
        world, past = self.turn.world, self.turn.past
        last = past[0].events if past else []
        return {
            seat: SeatUpdate(
                world.observe(seat),
                state_store.known_events(world, [seat], last),
                keys.number,
                known_intents(world, seat, self._intents) if self.episode.shows_intents else None,
                realtime_hint(world, seat, self.turn.briefs[seat]) if self.episode.hints else None,
            )
            for seat, keys in self.keys.items()
        }

    @property
    def unstored_since(self) -> float | None:
        """When the oldest tick was taken that is not stored; None where all are."""
        return self._kept_since if self._storing_since is None else self._storing_since

    def written(self) -> UnstoredTicks:
        """What is to be stored now, until it is `stored` or could not be (`put_back`)."""
        late, lost = self.pace.told()
        self._storing_since, self._kept_since = self._kept_since, None
        episode, audience = self.episode, self.episode.audience if self._take_news() else ""
        return UnstoredTicks(episode.pk, self.ledger.take(), late, lost, audience, str(episode.key))

    def _take_news(self) -> bool:
        """Whether staff are told now, once in a while and at the end: groups come four times a second, and
        each that is told costs a message."""
        due = self.is_over or self.pace.due >= self._news_due
        self._news_due = self.pace.due + NEWS_SECONDS if due else self._news_due
        return due

    def stored(self) -> None:
        """What was written is."""
        self._storing_since = None

    def put_back(self, written: UnstoredTicks) -> None:
        """It could not be stored."""
        self.ledger.put_back(written.group)
        self.pace.late, self.pace.lost_ms = self.pace.late + written.late, self.pace.lost_ms + written.lost_ms
        self._kept_since, self._storing_since = self.unstored_since, None
