"""Play the Overcooked game: apply the commands of a tick, and return events. The package docstring has the
rules.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import lru_cache
from random import Random
from typing import ClassVar, NamedTuple, Self

from kitchen.contract.world import (
    Command,
    Event,
    Json,
    Metric,
    Setting,
    SettingsError,
    StateError,
    TurnCommands,
    World,
    ordered_commands,
)
from kitchen.worlds.overcooked.kitchen_objects import (
    POTTED,
    SERVED,
    STARTED,
    InteractEffect,
    Item,
    KitchenObjects,
    item_json,
)
from kitchen.worlds.overcooked.layout import Cell, Layout
from kitchen.worlds.overcooked.metrics import IDLE, METRICS, EpisodeCounts
from kitchen.worlds.overcooked.movement import (
    COMMANDS,
    INTERACT,
    MOVE_COMMANDS,
    SEATS,
    STAY,
    MoveAttempt,
    floor_poses_of,
)
from kitchen.worlds.overcooked.saved_state import StateReader, read_object, require
from kitchen.worlds.overcooked.settings import DRAWN, PACE_TICK, SETTINGS, Options, read_options


def layout_brief(options: Options) -> dict[str, Json]:
    """Layout, orders, cooking, timing. `value` and `time` are as in a layout file, by ingredient."""
    layout, values = options.layout, options.values
    return {
        "layout": layout.code,
        "title": layout.title,
        "grid": list(layout.rows),
        "orders": _orders(layout),
        "value": layout.value if isinstance(layout.value, int) else dict(layout.value),
        "time": layout.time if isinstance(layout.time, int) else dict(layout.time),
        "cooking": values["cooking"],
        "ticks": values["ticks"],
        "clock": values["clock"],
        "tick_ms": values["tick_ms"],
    }


def _orders(layout: Layout) -> list[Json]:
    return [
        {
            "ingredients": list(soup),
            "points": layout.points(soup),
            "ticks": layout.ticks(soup),
            "bonus": soup in layout.bonus,
        }
        for soup in layout.orders
    ]


class TurnEntry(NamedTuple):
    """One command of a turn as it was handed in; `reason` is a refusal code for what makes no sense."""

    seat: int
    command: Command
    reason: str


def read_turn(turn: TurnCommands) -> list[TurnEntry]:
    """The commands of a turn, those that make no sense with the reason."""
    entries: list[TurnEntry] = []
    seen: set[int] = set()
    for seat, command in ordered_commands(turn):
        told = _tidied(command)
        reason = "" if told in COMMANDS else "unknown_command"
        if seat not in SEATS:
            reason = "unknown_seat"
        elif seat in seen:
            reason = "duplicate_seat"
        seen.add(seat)
        entries.append(TurnEntry(seat, told, reason))
    return entries


def _tidied(command: object) -> Command:
    """Whatever was given for a command, as texts, for the log."""
    return tuple(str(part) for part in command) if isinstance(command, list | tuple) else (str(command),)


def refused_event(seat: int, command: Command, reason: str) -> Event:
    """A command that changed nothing."""
    return Event("refused", seat, {"command": list(command), "reasons": [reason]})


@lru_cache(maxsize=1024)
def vain_interact_event(seat: int, reason: str) -> Event:
    """An interact that changed nothing."""
    return refused_event(seat, INTERACT, reason)


@lru_cache(maxsize=1024)
def interact_event(seat: int, did: str, thing: Item | None) -> Event:
    """An interact that did something."""
    return Event("performed", seat, {"command": list(INTERACT), "did": did, "thing": item_json(thing)})


def delivery_event(seat: int, deed: InteractEffect) -> Event:
    """A soup that was served."""
    soup = list(deed.thing) if isinstance(deed.thing, tuple) else []
    return Event("delivered", seat, {"ingredients": soup, "points": deed.points})


class Overcooked(World):
    """A kitchen on a grid, in which two cooks fill pots and carry soups away."""

    kind: ClassVar[str] = "overcooked"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    idle: ClassVar[Command] = STAY
    moves: ClassVar[frozenset[str]] = frozenset(("move",))
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = METRICS
    drawn: ClassVar[str] = "starting cells"
    drawn_alike: ClassVar[str] = "where they are drawn at all"
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
        """SettingsError for other seats than two, and for settings or a layout that cannot be played."""
        return cls(seats, read_options(settings))

    @classmethod
    def kind_of(cls, command: Command) -> str:
        """Ways into the four directions are one kind."""
        return "move" if command in MOVE_COMMANDS else super().kind_of(command)

    def reset(self, seed: int) -> None:
        """Both at their starts, facing north with empty hands; everything empty."""
        self._clock = 0
        first, second = self._starts(seed)
        self._stands = self._floor.stand(0, first, "north"), self._floor.stand(1, second, "north")
        self._things = KitchenObjects(self.layout, self.options.starts_itself)
        self._next_ready: int | None = None
        self._cooks = False
        self.tally = EpisodeCounts()

    def _starts(self, seed: int) -> tuple[Cell, Cell]:
        """As the layout has them; or drawn from all pairs of different cells, each of its own start's
        room."""
        first, second = self.layout.starts
        if self.options.values["start"] != DRAWN:
            return first, second
        rooms = self.layout.room(first), self.layout.room(second)
        pairs = [(one, other) for one in rooms[0] for other in rooms[1] if one != other]
        return Random(seed).choice(pairs)  # noqa: S311

    @property
    def clock(self) -> int:
        """Ticks since `reset`."""
        return self._clock

    @property
    def length(self) -> int:
        """The setting `ticks`."""
        return self._length

    @property
    def tick_ms(self) -> int | None:
        """The setting of this name, where `clock` is `tick`."""
        return self.options.values["tick_ms"] if self.options.values["clock"] == PACE_TICK else None

    @property
    def over(self) -> bool:
        """The last tick has been."""
        return self._clock >= self._length

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """One tick: interacts, turning and moving, pots (spec: One tick).

        Events: one `performed` or `refused` per command, in the order handed in; `delivered` {seat,
        ingredients, points}; `started` {pot} and `ready` {pot}. `performed` has of a direction `moved` and
        `blocked_by`, of an interact what it `did` with which `thing`. Once the episode is over nothing
        happens and nothing is returned.
        """
        if self._clock >= self._length:
            return ()
        try:
            one, other = turn.items()  # type: ignore[union-attr] # what is no mapping is read below
            first, second = (one, other) if one[0] == 0 else (other, one)
            if (first[0], second[0]) != SEATS:
                return self._read_and_play(turn)
            tries = self._stands[0].after[first[1]], self._stands[1].after[second[1]]
        except (AttributeError, KeyError, TypeError, ValueError):
            return self._read_and_play(turn)
        told, later = self._play(*tries)
        return (told if first is one else told[::-1]) + later

    def _read_and_play(self, turn: TurnCommands) -> tuple[Event, ...]:
        """A turn in which seats are left out or stand twice, or that makes no sense."""
        entries = read_turn(turn)
        given = {entry.seat: entry.command for entry in entries if not entry.reason}
        first, second = self._stands
        told, later = self._play(first.after[given.get(0, STAY)], second.after[given.get(1, STAY)])
        return (*(refused_event(*entry) if entry.reason else told[entry.seat] for entry in entries), *later)

    def _play(self, one: MoveAttempt, other: MoveAttempt) -> tuple[tuple[Event, Event], tuple[Event, ...]]:
        """What is told of both seats' commands, and what comes after these."""
        first, second = self._stands
        event, event_other = one.event, other.event
        later: tuple[Event, ...] = ()
        deed = self._act(0, first.ahead) if one.acts else None
        deed_other = self._act(1, second.ahead) if other.acts else None
        if one.target == other.target or (one.target == second.at and other.target == first.at):
            self._stands = one.kept, other.kept
            event, event_other = one.event_kept, other.event_kept
            self.tally.collisions += one.wants or other.wants
        else:
            self._stands = one.free, other.free
        if one.idle:
            self.tally.seats[0][IDLE] += 1
        if other.idle:
            self.tally.seats[1][IDLE] += 1
        self._clock = clock = self._clock + 1
        if deed is not None or deed_other is not None:
            event, event_other, later = self._tell(event, event_other, deed, deed_other)
        if self._cooks or clock == self._next_ready:
            later += tuple(self._things.cook(clock))
            self._next_ready, self._cooks = self._things.next_ready(clock), False
        return (event, event_other), later

    def _act(self, seat: int, ahead: Cell) -> InteractEffect | str:
        """An interact: what was done, or the refusal code."""
        deed = self._things.act(seat, ahead, self._clock)
        if isinstance(deed, InteractEffect):
            self.tally.add(seat, deed)
            self._cooks = self._cooks or deed.did in (POTTED, STARTED)
        return deed

    def _tell(
        self,
        event: Event,
        event_other: Event,
        deed: InteractEffect | str | None,
        deed_other: InteractEffect | str | None,
    ) -> tuple[Event, Event, tuple[Event, ...]]:
        """The same with what became of interacts, and the deliveries among them."""
        deeds = ((0, deed), (1, deed_other))
        later = tuple(
            delivery_event(seat, d) for seat, d in deeds if isinstance(d, InteractEffect) and d.did == SERVED
        )
        return _told(0, deed, event), _told(1, deed_other, event_other), later

    def brief(self, seat: int) -> dict[str, Json]:
        """The layout with its orders, values and times, and the timing: the same for both seats."""
        return layout_brief(self.options)

    def observe(self, seat: int) -> dict[str, Json]:
        """Everything, and one's own number. Cells are [x, y]; what is held or lies somewhere is null, a
        word, or `["soup", [ingredients]]`; `left` of a pot is null if it is not started, 0 if ready."""
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
        """The directions, `interact` if it would have an effect, and `stay` last; only `stay` once it is
        over."""
        if self.over:
            return [STAY]
        acts = not self._things.why_not(seat, self._stands[seat].ahead, self._clock)
        return [*MOVE_COMMANDS, *([INTERACT] if acts else []), STAY]

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """For seat 1, an interact that has an effect only after seat 0's."""
        if seat != 1 or self.over or (earlier is not None and 0 not in earlier):
            return []
        here, there = (stand.ahead for stand in self._stands)
        if here != there or not self._things.why_not(1, there, self._clock):
            return []
        after = self._things.copy()
        after.act(0, here, self._clock)
        return [] if after.why_not(1, there, self._clock) else [INTERACT]

    def accepts(self, seat: int, command: Command) -> bool:
        """All six, always: who presses a key does not know yet what the other one does."""
        return command in COMMANDS

    def score(self) -> dict[str, Json]:
        """Every figure, and what each seat did as `counts`."""
        return self.tally.score()

    def to_dict(self) -> dict[str, Json]:
        """The whole state; what `observe` shows, with when pots were started and what was counted."""
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
        """The world that `to_dict` described; StateError for any other."""
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


def _told(seat: int, deed: InteractEffect | str | None, event: Event) -> Event:
    """What is told of a command: of an interact by what became of it."""
    if deed is None:
        return event
    return (
        vain_interact_event(seat, deed)
        if isinstance(deed, str)
        else interact_event(seat, deed.did, deed.thing)
    )
