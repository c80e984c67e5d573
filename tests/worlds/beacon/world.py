"""Beacon in play. The rules are told in the package's docstring."""

from __future__ import annotations

from collections.abc import Mapping
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
    clean_settings,
    ordered,
)

KEEPER, PILOT = 0, 1
WAIT: Command = ("wait",)
LIGHTS = [("light", where) for where in ("left", "here", "right")]
MOVES = {"left": -1, "right": 1}
STATE = ("clock", "seed", "passage", "haven", "ship", "light", "steered", "distance")


class Beacon(World):
    """A light, a ship, a haven."""

    kind: ClassVar[str] = "beacon"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("nights", "int", "Nights", 6, help="Steps of an episode.", minimum=1, maximum=100),
        Setting("width", "int", "Berths of the bay", 5, minimum=2, maximum=9),
    )
    idle: ClassVar[Command] = WAIT
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "drift",
            "number",
            "Drift",
            meaning="Mean distance to the haven after steering",
            so_far="Mean distance to the haven so far",
            undefined="blank before the pilot has steered",
            unit="berths",
            better="lower",
            words=("berth off on average", "berths off on average"),
        ),
        Figure("havens", "count", "Havens reached", words=("haven reached", "havens reached")),
    )
    news: ClassVar[str] = "ships that came in"

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        if seats != self.max_seats:
            raise SettingsError(f"seats: {seats!r} are not a keeper and a pilot")
        self.seats = seats
        self.chosen = clean_settings(self.settings, settings)
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """SettingsError for other seats than two."""
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        """The ship at berth 0, all dark."""
        self.seed, self._clock, self.passage = seed, 0, 0
        self.ship, self.light, self.steered, self.distance = 0, "dark", 0, 0
        self.haven = self._draw()

    def _draw(self) -> int:
        """The next haven: any berth but the one where the ship is."""
        berths = [berth for berth in range(self.chosen["width"]) if berth != self.ship]
        return Random(f"{self.seed}:{self.passage}").choice(berths)

    @property
    def clock(self) -> int:
        """Steps taken."""
        return self._clock

    @property
    def length(self) -> int:
        """The setting `nights`."""
        found: int = self.chosen["nights"]
        return found

    @property
    def over(self) -> bool:
        """The last night is over."""
        return self._clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        """Who one is, and how wide the bay is."""
        return {"role": ("keeper", "pilot")[seat], **self.chosen}

    def observe(self, seat: int) -> dict[str, Json]:
        """The keeper sees haven and ship; the pilot sees ship and light."""
        shared = {"ship": self.ship, "light": self.light}
        return {**shared, "haven": self.haven} if seat == KEEPER else shared

    def legal_actions(self, seat: int) -> list[Command]:
        """Lights, or courses that do not end on the rocks."""
        if seat == KEEPER:
            return [*LIGHTS, WAIT]
        return [*(("steer", way) for way, by in MOVES.items() if self._is_berth(self.ship + by)), WAIT]

    def _is_berth(self, berth: int) -> bool:
        return 0 <= berth < int(self.chosen["width"])

    def visible(self, seat: int, event: Event) -> bool:
        """What the pilot steers is not the keeper's to see."""
        return event.seat != PILOT or seat == PILOT

    def step(self, turn: Turn) -> tuple[Event, ...]:
        """Both at once: everything is judged by the state before the step."""
        if self.over:
            return ()
        given: dict[int, Command] = {}
        events = [self._event(seat, tuple(command), given) for seat, command in ordered(turn)]
        self.light = given[KEEPER][1] if len(given.get(KEEPER, ())) > 1 else "dark"
        if given.get(PILOT, WAIT) != WAIT:
            events += self._sail(MOVES[given[PILOT][1]])
        self._clock += 1
        return tuple(events)

    def _event(self, seat: int, command: Command, given: dict[int, Command]) -> Event:
        reason = self._reason(seat, command, given)
        if reason:
            return Event("refused", seat, {"command": list(command), "reasons": [reason]})
        given[seat] = command
        return Event("performed", seat, {"command": list(command)})

    def _reason(self, seat: int, command: Command, given: Mapping[int, Command]) -> str:
        if seat not in (KEEPER, PILOT):
            return "unknown_seat"
        if seat in given:
            return "duplicate_seat"
        if command in self.legal_actions(seat):
            return ""
        return "at_the_edge" if command in [("steer", way) for way in MOVES] and seat else "senseless"

    def _sail(self, by: int) -> list[Event]:
        self.ship += by
        self.steered += 1
        self.distance += abs(self.haven - self.ship)
        if self.ship != self.haven:
            return []
        self.passage += 1
        self.haven = self._draw()
        return [Event("came_in", None, {"berth": self.ship})]

    def score(self) -> dict[str, Json]:
        """Drift and havens."""
        return {"drift": self.distance / self.steered if self.steered else None, "havens": self.passage}

    def to_dict(self) -> dict[str, Json]:
        """All of it: the next haven follows from seed and passage."""
        return {
            "kind": self.kind,
            "version": self.version,
            "seats": self.seats,
            "settings": dict(self.chosen),
            **{name: getattr(self, "_clock" if name == "clock" else name) for name in STATE},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """StateError for what `to_dict` did not write."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise StateError("not a state of beacon, version 1")
        try:
            world = cls(stored["seats"], stored["settings"])
            for name in STATE:
                setattr(world, "_clock" if name == "clock" else name, stored[name])
        except (KeyError, TypeError, SettingsError) as error:
            raise StateError(f"beacon: {error}") from error
        return world
