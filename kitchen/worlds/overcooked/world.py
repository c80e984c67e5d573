"""The Overcooked grids in play. The rules of the game are told in the package's docstring."""

from __future__ import annotations

from collections.abc import Container, Mapping
from random import Random
from typing import ClassVar, Self

from kitchen.contract.world import (
    Command,
    Event,
    Figure,
    Json,
    Setting,
    SettingsError,
    StateError,
    Turn,
    World,
)
from kitchen.worlds.overcooked.figures import FIGURES
from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.options import DRAWN, SETTINGS, TICK, Options, read_options
from kitchen.worlds.overcooked.stands import COMMANDS, INTERACT, MOVES, SEATS, STAY, Try, floor_of
from kitchen.worlds.overcooked.stored import Reader, need, table
from kitchen.worlds.overcooked.tally import IDLE, Tally
from kitchen.worlds.overcooked.things import POTTED, SERVED, STARTED, Deed, Things, shown
from kitchen.worlds.overcooked.told import layout_brief
from kitchen.worlds.overcooked.turns import delivered, read, refused, used, vain


class Overcooked(World):
    """A kitchen on a grid, in which two cooks fill pots and carry soups away."""

    kind: ClassVar[str] = "overcooked"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    idle: ClassVar[Command] = STAY
    moves: ClassVar[frozenset[str]] = frozenset(("move",))
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Figure, ...]] = FIGURES
    drawn: ClassVar[str] = "starting cells"
    drawn_alike: ClassVar[str] = "where they are drawn at all"
    news: ClassVar[str] = "soups that were delivered, pots that were started or became ready"

    def __init__(self, seats: int, options: Options) -> None:
        if isinstance(seats, bool) or seats != self.max_seats:
            raise SettingsError(f"seats: {seats!r} are not two")
        self.seats = seats
        self.options = options
        self.layout = options.layout
        self._floor = floor_of(options.layout)
        self._length: int = options.values["ticks"]
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """SettingsError for other seats than two, and for settings or a layout that cannot be played."""
        return cls(seats, read_options(settings))

    @classmethod
    def kind_of(cls, command: Command) -> str:
        """Ways into the four directions are one kind."""
        return "move" if command in MOVES else super().kind_of(command)

    def reset(self, seed: int) -> None:
        """Both at their starts, facing north with empty hands; everything empty."""
        self._clock = 0
        first, second = self._starts(seed)
        self._stands = self._floor.stand(0, first, "north"), self._floor.stand(1, second, "north")
        self._things = Things(self.layout, self.options.starts_itself)
        self._next_ready: int | None = None
        self._cooks = False
        self.tally = Tally()

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
        return self.options.values["tick_ms"] if self.options.values["clock"] == TICK else None

    @property
    def over(self) -> bool:
        """The last tick has been."""
        return self._clock >= self._length

    def step(self, turn: Turn) -> tuple[Event, ...]:
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

    def _read_and_play(self, turn: Turn) -> tuple[Event, ...]:
        """A turn in which seats are left out or stand twice, or that makes no sense."""
        entries = read(turn)
        given = {entry.seat: entry.command for entry in entries if not entry.reason}
        first, second = self._stands
        told, later = self._play(first.after[given.get(0, STAY)], second.after[given.get(1, STAY)])
        return (*(refused(*entry) if entry.reason else told[entry.seat] for entry in entries), *later)

    def _play(self, one: Try, other: Try) -> tuple[tuple[Event, Event], tuple[Event, ...]]:
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

    def _act(self, seat: int, ahead: Cell) -> Deed | str:
        """An interact: what was done, or the refusal code."""
        deed = self._things.act(seat, ahead, self._clock)
        if isinstance(deed, Deed):
            self.tally.add(seat, deed)
            self._cooks = self._cooks or deed.did in (POTTED, STARTED)
        return deed

    def _tell(
        self, event: Event, event_other: Event, deed: Deed | str | None, deed_other: Deed | str | None
    ) -> tuple[Event, Event, tuple[Event, ...]]:
        """The same with what became of interacts, and the deliveries among them."""
        deeds = ((0, deed), (1, deed_other))
        later = tuple(delivered(seat, d) for seat, d in deeds if isinstance(d, Deed) and d.did == SERVED)
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
                {"at": list(at), "thing": shown(item)} for at, item in sorted(things.counters.items())
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
            {"at": list(stand.at), "face": stand.face, "holds": shown(held)}
            for stand, held in zip(self._stands, self._things.hands, strict=True)
        ]

    def legal_actions(self, seat: int) -> list[Command]:
        """The directions, `interact` if it would have an effect, and `stay` last; only `stay` once it is
        over."""
        if self.over:
            return [STAY]
        acts = not self._things.why_not(seat, self._stands[seat].ahead, self._clock)
        return [*MOVES, *([INTERACT] if acts else []), STAY]

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
            "counters": [[list(at), shown(item)] for at, item in sorted(self._things.counters.items())],
            "pots": [
                [list(at), list(pot.contents), pot.started] for at, pot in sorted(self._things.pots.items())
            ],
            "tally": self.tally.to_json(),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """The world that `to_dict` described; StateError for any other."""
        fields = table(stored, "it", _PARTS)
        need(fields["kind"] == cls.kind, "kind", f"is not {cls.kind}")
        need(fields["version"] == cls.version, "version", f"{fields['version']!r} is not {cls.version}")
        need(isinstance(fields["settings"], Mapping), "settings", "is no object")
        try:
            world = cls(fields["seats"], read_options(fields["settings"]))
        except SettingsError as error:
            raise StateError(f"stored state: {error}") from error
        world._restore(fields)
        return world

    def _restore(self, fields: Mapping[str, Json]) -> None:
        read = Reader(self.layout, self._length)
        self._clock = read.clock(fields["clock"])
        at, face, self._things.hands = read.players(fields["players"])
        self._stands = self._floor.stand(0, at[0], face[0]), self._floor.stand(1, at[1], face[1])
        self._things.counters = read.counters(fields["counters"])
        self._things.pots = read.pots(fields["pots"], self._clock)
        self._next_ready = self._things.next_ready(self._clock)
        self.tally = read.tally(fields["tally"])


_PARTS = ("kind", "version", "seats", "settings", "clock", "players", "counters", "pots", "tally")


def _told(seat: int, deed: Deed | str | None, event: Event) -> Event:
    """What is told of a command: of an interact by what became of it."""
    if deed is None:
        return event
    return vain(seat, deed) if isinstance(deed, str) else used(seat, deed.did, deed.thing)
