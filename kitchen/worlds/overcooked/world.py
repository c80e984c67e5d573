"""Implement the Overcooked world: carry out the commands of each tick (step), and return its events.

The docstring of `kitchen.worlds.overcooked` has the rules.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import lru_cache
from random import Random
from typing import ClassVar, Self

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Aim, Command, Event, Json, Metric, TurnCommands, World, ordered_commands
from kitchen.contract.world_errors import SettingsError, StateError
from kitchen.worlds.overcooked.game_rules import (
    COMMANDS,
    INTERACT,
    MOVE_COMMANDS,
    POTTED,
    SEATS,
    SERVED,
    STARTED,
    STAY,
    InteractEffect,
    Item,
    KitchenObjects,
    MoveAttempt,
    Pose,
    floor_poses_of,
    item_json,
)
from kitchen.worlds.overcooked.grid_aims import aim_mark, aim_status, seat_aims
from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.metrics import IDLE, METRICS, EpisodeCounts
from kitchen.worlds.overcooked.saved_state import StateReader, read_object, require
from kitchen.worlds.overcooked.settings import DRAWN, PACE_TICK, SETTINGS, Options, read_options


def layout_brief(options: Options) -> dict[str, Json]:
    """Return the unchanging facts of the episode: layout, orders, cooking and timing. `value` and `time`
    have the same form as in a layout file."""
    layout, values = options.layout, options.values
    return {
        "layout": layout.code,
        "title": layout.title,
        "grid": list(layout.rows),
        "orders": [
            {
                "ingredients": list(soup),
                "points": layout.points(soup),
                "ticks": layout.ticks(soup),
                "bonus": soup in layout.bonus,
            }
            for soup in layout.orders
        ],
        "value": layout.value if isinstance(layout.value, int) else dict(layout.value),
        "time": layout.time if isinstance(layout.time, int) else dict(layout.time),
        "cooking": values["cooking"],
        "ticks": values["ticks"],
        "clock": values["clock"],
        "tick_ms": values["tick_ms"],
    }


def read_turn(turn: TurnCommands) -> list[tuple[int, Command, str]]:
    """Return the submitted commands of a turn as (seat, command, refusal code). The code is empty if the
    command is well-formed."""
    entries: list[tuple[int, Command, str]] = []
    seen: set[int] = set()
    for seat, command in ordered_commands(turn):
        words = tuple(map(str, command)) if isinstance(command, list | tuple) else (str(command),)
        reason = "" if words in COMMANDS else "unknown_command"
        if seat not in SEATS:
            reason = "unknown_seat"
        elif seat in seen:
            reason = "duplicate_seat"
        seen.add(seat)
        entries.append((seat, words, reason))
    return entries


def refused_event(seat: int, command: Command, reason: str) -> Event:
    """Return the event that reports a refused command with its reason."""
    return Event("refused", seat, {"command": list(command), "reasons": [reason]})


@lru_cache(maxsize=1024)
def vain_interact_event(seat: int, reason: str) -> Event:
    """Return the event that reports a refused `interact` command with its reason. Equal events are the same
    object."""
    return refused_event(seat, INTERACT, reason)


@lru_cache(maxsize=1024)
def interact_event(seat: int, did: str, thing: Item | None) -> Event:
    """Return the event for an `interact` command of this seat. `did` is the effect of the command, such as
    POTTED. `thing` is the item that was affected."""
    return Event("performed", seat, {"command": list(INTERACT), "did": did, "thing": item_json(thing)})


def delivery_event(seat: int, deed: InteractEffect) -> Event:
    """Return the event `delivered` of a served soup, with its ingredients and points."""
    soup = list(deed.thing) if isinstance(deed.thing, tuple) else []
    return Event("delivered", seat, {"ingredients": soup, "points": deed.points})


class Overcooked(World):
    """A kitchen on a grid, in which two cooks fill pots and deliver soups."""

    kind: ClassVar[str] = "overcooked"
    event_kinds: ClassVar[Mapping[str, str]] = {
        "delivered": "a soup was delivered",
        "ready": "a soup was ready",
        "started": "a pot began to cook",
    }
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    idle: ClassVar[Command] = STAY
    moves: ClassVar[frozenset[str]] = frozenset(("move",))
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = METRICS
    drawn: ClassVar[str] = "starting cells"
    drawn_alike: ClassVar[str] = "if they are drawn at all"
    news: ClassVar[str] = "soups that were delivered, pots that were started or became ready"

    def __init__(self, seats: int, options: Options) -> None:
        if isinstance(seats, bool) or seats != self.max_seats:
            raise SettingsError(f"seats: {seats!r} are not two")
        self.seats = seats
        self.options = options
        self.layout = options.layout
        self._floor = floor_poses_of(options.layout)
        self._length: int = options.values["ticks"]
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """Return a new world with these settings. Raises SettingsError if `seats` is not 2, or if the
        settings are invalid."""
        return cls(seats, read_options(settings))

    @classmethod
    def kind_of(cls, command: Command) -> str:
        """Return the kind of a command: `move` for the four directions, else its verb."""
        return "move" if command in MOVE_COMMANDS else super().kind_of(command)

    def reset(self, seed: int) -> None:
        """Start a new episode: both seats are on their start cells, face north and hold nothing. Pots and
        counters are empty.

        The start cells may be drawn at random with `seed`; the setting `start` decides.
        """
        self._clock = 0
        first, second = self._starts(seed)
        self._stands = self._floor.stand(0, first, "north"), self._floor.stand(1, second, "north")
        self._things = KitchenObjects(self.layout, self.options.starts_itself)
        self._next_ready: int | None = None
        self._cooks = False
        self.tally = EpisodeCounts()

    def _starts(self, seed: int) -> tuple[Cell, Cell]:
        """Return the start cells: those of the layout, or a random pair.

        A random pair has different cells, each in the room of that seat's start. All pairs are equally
        likely.
        """
        first, second = self.layout.starts
        if self.options.values["start"] != DRAWN:
            return first, second
        rooms = self.layout.room(first), self.layout.room(second)
        pairs = [(one, other) for one in rooms[0] for other in rooms[1] if one != other]
        return Random(seed).choice(pairs)  # noqa: S311

    @property
    def clock(self) -> int:
        """Return the number of ticks played since `reset`."""
        return self._clock

    @property
    def length(self) -> int:
        """Return the number of ticks of an episode (setting `ticks`)."""
        return self._length

    @property
    def tick_ms(self) -> int | None:
        """Return the milliseconds per tick if the world has a clock (setting `clock` is `tick`); else
        None."""
        return self.options.values["tick_ms"] if self.options.values["clock"] == PACE_TICK else None

    @property
    def over(self) -> bool:
        """Return whether the last tick has been played."""
        return self._clock >= self._length

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Play one tick and return the events. The package docstring describes the order within a tick. After
        the end of the episode, nothing happens and there are no events.

        There is one event `performed` or `refused` for each command, in the order submitted. For a direction,
        `performed` has `moved` and `blocked_by`; for an `interact` command, `did` and `thing`. Then come
        `delivered` {seat, ingredients, points}, `started` {pot} and `ready` {pot}.
        """
        if self._clock >= self._length:
            return ()
        try:
            one, other = turn.items()  # type: ignore[union-attr] # _read_and_play handles a value that is no mapping
            first, second = (one, other) if one[0] == 0 else (other, one)
            if (first[0], second[0]) != SEATS:
                return self._read_and_play(turn)
            tries = self._stands[0].after[first[1]], self._stands[1].after[second[1]]
        except (AttributeError, KeyError, TypeError, ValueError):
            return self._read_and_play(turn)
        events, later = self._play(*tries)
        return (events if first is one else events[::-1]) + later

    def _read_and_play(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Play a tick in which seats have no command or several ones, or commands are malformed. Return the
        events."""
        entries = read_turn(turn)
        given = {seat: command for seat, command, reason in entries if not reason}
        first, second = self._stands
        events, later = self._play(first.after[given.get(0, STAY)], second.after[given.get(1, STAY)])
        return (*(refused_event(*entry) if entry[2] else events[entry[0]] for entry in entries), *later)

    def _play(self, one: MoveAttempt, other: MoveAttempt) -> tuple[tuple[Event, Event], tuple[Event, ...]]:
        """Play one tick. Return the events of both seats' commands, and the events that follow."""
        first, second = self._stands
        event, event_other = one.event, other.event
        later: tuple[Event, ...] = ()
        deed = self._act(0, first.ahead) if one.acts else None
        deed_other = self._act(1, second.ahead) if other.acts else None
        if one.target == other.target or (one.target == second.at and other.target == first.at):
            self._stands = one.pose_if_blocked, other.pose_if_blocked
            event, event_other = one.event_if_blocked, other.event_if_blocked
            self.tally.collisions += one.wants or other.wants
        else:
            self._stands = one.pose_if_free, other.pose_if_free
        if one.idle:
            self.tally.seats[0][IDLE] += 1
        if other.idle:
            self.tally.seats[1][IDLE] += 1
        self._clock = clock = self._clock + 1
        if deed is not None or deed_other is not None:
            event, event_other, later = self._events_with_results(event, event_other, deed, deed_other)
        if self._cooks or clock == self._next_ready:
            later += tuple(self._things.cook(clock))
            self._next_ready, self._cooks = self._things.next_ready(clock), False
        return (event, event_other), later

    def _act(self, seat: int, ahead: Cell) -> InteractEffect | str:
        """Carry out a seat's `interact` command. Return its effect, or the code of the reason why it is
        refused."""
        deed = self._things.act(seat, ahead, self._clock)
        if isinstance(deed, InteractEffect):
            self.tally.add(seat, deed)
            self._cooks = self._cooks or deed.did in (POTTED, STARTED)
        return deed

    def _events_with_results(
        self,
        event: Event,
        event_other: Event,
        deed: InteractEffect | str | None,
        deed_other: InteractEffect | str | None,
    ) -> tuple[Event, Event, tuple[Event, ...]]:
        """Return three things: both seats' events with the results of `interact` commands, and the events of
        delivered soups. `deed` and `deed_other` are these results, or the reasons for refusals."""
        deeds = ((0, deed), (1, deed_other))
        done = [(seat, deed) for seat, deed in deeds if isinstance(deed, InteractEffect)]
        later = tuple(delivery_event(seat, deed) for seat, deed in done if deed.did == SERVED)
        return _result_event(0, deed, event), _result_event(1, deed_other, event_other), later

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the unchanging facts of the episode: layout, orders, points and times. They are the same
        for both seats."""
        return layout_brief(self.options)

    def parts(self) -> tuple[tuple[Pose, Pose], KitchenObjects]:
        """Return the poses of both seats, and all things, for fast encodings. Do not change them."""
        return self._stands, self._things

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the whole state of the kitchen. Only `seat` differs between seats.

        Cells are [x, y]. A thing is null, a word, or `["soup", [ingredients]]`. `left` of a pot is null if it
        is not started, and 0 if the soup is ready.
        """
        things, clock = self._things, self._clock
        return {
            "seat": seat,
            "tick": clock,
            "ticks_left": self._length - clock,
            "players": self._players(),
            "counters": [
                {"at": list(at), "thing": item_json(item)} for at, item in sorted(things.counters.items())
            ],
            "pots": [
                {"at": list(at), "contents": list(pot.contents), "left": things.left(pot, clock)}
                for at, pot in sorted(things.pots.items())
            ],
            "points": self.tally.points,
            "soups": self.tally.soups,
            "deliveries": [counts[SERVED] for counts in self.tally.seats],
        }

    def _players(self) -> list[Json]:
        return [
            {"at": list(stand.at), "face": stand.face, "holds": item_json(held)}
            for stand, held in zip(self._stands, self._things.hands, strict=True)
        ]

    def legal_actions(self, seat: int) -> list[Command]:
        """Return the commands of this seat that are legal now: the directions, `interact` if it has an
        effect, and `stay`.

        After the end only `stay` is legal.
        """
        if self.over:
            return [STAY]
        acts = not self._things.why_not(seat, self._stands[seat].ahead, self._clock)
        return [*MOVE_COMMANDS, *([INTERACT] if acts else []), STAY]

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """Return `interact` if it is not legal for seat 1 now, but becomes legal if seat 0 interacts first.
        Otherwise return an empty list. `earlier` are the seats that can act first; None means all."""
        if seat != 1 or self.over or (earlier is not None and 0 not in earlier):
            return []
        here, there = (stand.ahead for stand in self._stands)
        if here != there or not self._things.why_not(1, there, self._clock):
            return []
        after = self._things.copy()
        after.act(0, here, self._clock)
        return [] if after.why_not(1, there, self._clock) else [INTERACT]

    def aims(self, seat: int) -> list[Aim]:
        """Return the skills of ProAgent that this seat can carry out in the layout. Some may need the
        other seat's help (`grid_aims`)."""
        return list(seat_aims(self.layout, self.options.starts_itself, seat))

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return how often this seat has done the aim's action so far; None for a pickup. `aim_status` needs
        this value later."""
        return aim_mark(self.tally.seats[seat], aim)

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if the aim is reached, FAIL if the seat should put an item down but holds none, else
        UNKNOWN.

        `since` is the result of `aim_mark` when the aim was given.
        """
        pot = self._things.pots.get(self._stands[seat].ahead)
        return aim_status(self.tally.seats[seat], self._things.hands[seat], pot, aim, since)

    def accepts(self, seat: int, command: Command) -> bool:
        """Return whether this is a command of the game. An `interact` command without an effect is accepted,
        too: the other seat may act first."""
        return command in COMMANDS

    def score(self) -> dict[str, Json]:
        """Return the value of every metric by name, and the number of each seat's actions (`counts`)."""
        return self.tally.score()

    def measure(self, metric: str) -> Json:
        """Return the value of one metric. Points, the reward of learning programs, are at hand."""
        return self.tally.points if metric == "points" else super().measure(metric)

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as JSON, from which `from_dict` restores the world."""
        return {
            "kind": self.kind,
            "version": self.version,
            "seats": self.seats,
            "settings": dict(self.options.values),
            "clock": self._clock,
            "players": self._players(),
            "counters": [[list(at), item_json(item)] for at, item in sorted(self._things.counters.items())],
            "pots": [
                [list(at), list(pot.contents), pot.started] for at, pot in sorted(self._things.pots.items())
            ],
            "tally": self.tally.to_json(),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the world restored from the JSON of `to_dict`. Raises StateError if it is invalid."""
        fields = read_object(stored, "it", _PARTS)
        require(fields["kind"] == cls.kind, "kind", f"is not {cls.kind}")
        require(fields["version"] == cls.version, "version", f"{fields['version']!r} is not {cls.version}")
        require(isinstance(fields["settings"], Mapping), "settings", "is no object")
        try:
            world = cls(fields["seats"], read_options(fields["settings"]))
        except SettingsError as error:
            raise StateError(f"stored state: {error}") from error
        world._restore(fields)
        return world

    def _restore(self, fields: Mapping[str, Json]) -> None:
        read = StateReader(self.layout, self._length)
        self._clock = read.clock(fields["clock"])
        at, face, self._things.hands = read.players(fields["players"])
        self._stands = self._floor.stand(0, at[0], face[0]), self._floor.stand(1, at[1], face[1])
        self._things.counters = read.counters(fields["counters"])
        self._things.pots = read.pots(fields["pots"], self._clock)
        self._next_ready = self._things.next_ready(self._clock)
        self.tally = read.tally(fields["tally"])


_PARTS = ("kind", "version", "seats", "settings", "clock", "players", "counters", "pots", "tally")


def _result_event(seat: int, deed: InteractEffect | str | None, event: Event) -> Event:
    """Return the event of a command. For `interact`, it has the result or the reason for the refusal."""
    if isinstance(deed, str):
        return vain_interact_event(seat, deed)
    return interact_event(seat, deed.did, deed.thing) if deed else event
