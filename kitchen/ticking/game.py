"""One episode that a clock plays, as its owner has it: reading it, taking a tick, and what pages are told of
it.

The turn is the one of all live play (`kitchen.play.turns`), and so is what it writes; only that goes into a
ledger first. Reading needs the database, a tick does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.play import clock, stored
from kitchen.play.asking import Asked, to_hand_in
from kitchen.play.hints import errand_for
from kitchen.play.intents import known_intents
from kitchen.play.kept import bring_up_to_date
from kitchen.play.models import Decision, Episode, Seat, SeatCommand
from kitchen.play.turns import OpenTurn
from kitchen.ticking.claims import Standing
from kitchen.ticking.keys import Keys
from kitchen.ticking.ledger import Ledger, Written
from kitchen.ticking.minds import Minds
from kitchen.ticking.pace import LOST, Pace

LEAD_IN = 3.0
"""Seconds from the moment at which all have opened their page to the beginning of the first tick; less
where programs take part."""
TIME_LOST = "time_lost"
"""The event of a step before which the clock stood still."""
DECISION = tuple(one.attname for one in Decision._meta.concrete_fields if not one.primary_key)


@dataclass(frozen=True, slots=True)
class Sight:
    """What the page of one seat can be told after a tick."""

    observation: Mapping[str, Json]
    events: tuple[Event, ...]
    key: int
    """The number of the last word of the page that was heard."""
    intents: Mapping[int, Intent] | None = None
    """What other seats are about to do; None where the page does not say it."""
    errand: Intent | None = None
    """What would be good to do; None where the page gives no hints."""


def game_read(one: Standing, now: float, minds: Minds | None = None) -> Game | None:
    """The episode from the database: one that begins, or one with which another owner did not go on. `minds`
    may be asked already. None where it is over."""
    try:
        turn = OpenTurn(Episode.objects.get(pk=one.episode_id), Seat.objects.filter(episode=one.episode_id))
        bring_up_to_date(turn)
    except Episode.DoesNotExist:
        return None
    if not turn.is_open or not turn.episode.tick_ms:
        return None
    for _ in (turn.past, turn.chain, turn.minds, turn.memories, turn.briefs):
        pass  # a tick reads nothing
    return (_resumed if turn.episode.step else _begun)(turn, one, now, minds or Minds())


def _begun(turn: OpenTurn, one: Standing, now: float, minds: Minds) -> Game:
    """Its first tick begins after the lead-in."""
    lead_in = LEAD_IN / (settings.SYNTHETIC_SPEED if turn.episode.synthetic else 1)
    turn.episode.turn_opened_at = timezone.now() + timedelta(seconds=lead_in)
    return Game(turn, Pace(_seconds(turn), now + lead_in + _seconds(turn)), minds, one.seats_given)


def _resumed(turn: OpenTurn, one: Standing, now: float, minds: Minds) -> Game:
    """Its next tick begins now; time has been lost since the last one that was stored."""
    game = Game(turn, Pace(_seconds(turn), now + _seconds(turn)), minds, one.seats_given)
    lost = (timezone.now() - turn.episode.turn_opened_at).total_seconds()
    game.lose(lost)
    return game


def _seconds(turn: OpenTurn) -> float:
    return (turn.episode.tick_ms or 0) / 1000


NEWS_SECONDS = 1.0
"""How often staff who look on are told at most that an episode has gone on."""


class Game:
    """One episode. Moments are seconds of a clock that nobody sets."""

    def __init__(self, turn: OpenTurn, pace: Pace, minds: Minds, given: str = "") -> None:
        self.turn, self.pace, self.given = turn, pace, given
        self.ledger, self.minds = Ledger(), minds
        self.keys = {seat: Keys() for seat in sorted(turn.people)}
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
        if seconds > LOST:
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

    def _person(self, seat: int, keys: Keys, now: float) -> SeatCommand:
        command = keys.take(now)
        if command is None or not self.turn.world.accepts(seat, command):
            return self.turn.row(seat, self.turn.world.idle, chosen_by=clock.NO_KEY)
        came = timezone.now() - timedelta(seconds=now - keys.at)
        return self.turn.row(seat, command, chosen_by=clock.PERSON, received_at=came)

    def _of_minds(self, asked: list[Asked]) -> list[SeatCommand]:
        turn = self.turn
        said = [one.outcome.decision.intents for one in asked]
        self._intents = {seat: intent for each in said for seat, intent in each.items()}
        commands, made = to_hand_in(asked, step=turn.step, idle=turn.world.idle)
        for each in made:
            each.row.number = self._number(each.row.mind_id)
            self.ledger.called(each.row, each.calls)
        turn.remember([each.row for each in made])
        self.ledger.insert(Decision, [{name: getattr(each.row, name) for name in DECISION} for each in made])
        return [
            turn.row(one.seat, one.command, chosen_by=one.chosen_by, fallback=one.fallback)
            for one in commands
        ]

    def _number(self, mind: int) -> int:
        """Of the decision that this mind has made now."""
        self._decided[mind] += 1
        return self._decided[mind]

    def sights(self) -> dict[int, Sight]:
        """What the page of each person's seat can be told now, of the last tick."""
        world, past = self.turn.world, self.turn.past
        last = past[0].events if past else []
        return {
            seat: Sight(
                world.observe(seat),
                stored.known_events(world, [seat], last),
                keys.number,
                known_intents(world, seat, self._intents) if self.episode.shows_intents else None,
                errand_for(world, seat, self.turn.briefs[seat]) if self.episode.hints else None,
            )
            for seat, keys in self.keys.items()
        }

    @property
    def unstored_since(self) -> float | None:
        """When the oldest tick was taken that is not stored; None where all are."""
        return self._kept_since if self._storing_since is None else self._storing_since

    def written(self) -> Written:
        """What is to be stored now, until it is `stored` or could not be (`put_back`)."""
        late, lost = self.pace.told()
        self._storing_since, self._kept_since = self._kept_since, None
        episode, audience = self.episode, self.episode.audience if self._take_news() else ""
        return Written(episode.pk, self.ledger.take(), late, lost, audience, str(episode.key))

    def _take_news(self) -> bool:
        """Whether staff are told now, once in a while and at the end: groups come four times a second, and
        each that is told costs a message."""
        due = self.is_over or self.pace.due >= self._news_due
        self._news_due = self.pace.due + NEWS_SECONDS if due else self._news_due
        return due

    def stored(self) -> None:
        """What was written is."""
        self._storing_since = None

    def put_back(self, written: Written) -> None:
        """It could not be stored."""
        self.ledger.put_back(written.group)
        self.pace.late, self.pace.lost_ms = self.pace.late + written.late, self.pace.lost_ms + written.lost_ms
        self._kept_since, self._storing_since = self.unstored_since, None
