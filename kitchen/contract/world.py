"""Define the `World` interface that every game implements. Plain Python, no Django.

A world is turn-based or clocked, has one or more seats, and is advanced by commands. Seats may have
different commands and see different things. The caller owns the clock and decides when to call `step`; the
world says what a step does.

Errors::

    WorldError
    ├── SettingsError   settings, level files or data that cannot be played
    └── StateError      a stored state that this version cannot read
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Self, final

from kitchen.contract.canonical_json import Json as Json
from kitchen.contract.canonical_json import canonical_hash as canonical_hash
from kitchen.contract.canonical_json import canonical_json as canonical_json
from kitchen.contract.canonical_json import text_hash as text_hash
from kitchen.contract.large_state import LargeMap, WorldState
from kitchen.contract.metric_limits import MetricLimits

Command = tuple[str, ...]
"""What one seat wants to do: a verb and its arguments, without the seat. `("get", "storage0", "rice")`."""

Aim = tuple[str, ...]
"""What a seat can be asked to bring about, in the codes of the world. `("serve", "salmonSushi")`."""

SUCCESS, FAIL, UNKNOWN = "success", "fail", "unknown"
"""How an aim stands: it is reached, it cannot be reached any more, or neither can be said yet."""

Intent = Mapping[str, str]
"""What somebody is about to do, in the codes of the world, whose page has the words (`do` what, and with
what); or `said`: in words of its own, and `thought`: what it thought before."""

TurnCommands = Mapping[int, Command] | Sequence[tuple[int, Command]]
"""Commands by seat, in the order in which they are to run, where the world runs them one by one."""


class WorldError(Exception):
    """Something about a world that a caller can put right; the message is one line."""


class SettingsError(WorldError):
    """Settings or data that make no playable world; names what, where and why."""


class StateError(WorldError):
    """A stored state that is damaged or of another version."""


class Event(NamedTuple):
    """One thing that happened in a step, as it goes into the log.

    `kind` is `performed`, `refused`, `message`, `plan_broken`, `time_lost`, or one of the world's own; `seat`
    is who did it, None for the world itself; `data` is JSON. `performed` and `refused` carry `command`,
    `refused` also `reasons` (codes). `plan_broken` is the house's: after this step the rest of a seat's plan
    was dropped; it has `why` (`illegal` or `replaced`), what was `left`, and the step in which it was given
    (`planned_in`). `time_lost` is the house's, too: before this step the clock stood still for so many
    `milliseconds`. Events are shared between episodes: do not change `data`.
    """

    kind: str
    seat: int | None = None
    data: Mapping[str, Json] = {}

    def to_json(self) -> dict[str, Json]:
        """The event as one JSON object."""
        return {"kind": self.kind, "seat": self.seat, **self.data}


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing about a world or co-player that a researcher may set; forms are built from it.

    `kind` is `int`, `float`, `bool`, `text` or `choice`; `choices` are (value, label) pairs; bounds are
    inclusive, those of a text count its characters.
    """

    name: str
    kind: str
    label: str
    default: Json
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    later: bool = False
    """It came when there were designs without it: a form that is saved with its default does not add it."""
    lines: int = 1
    """Of the box in which a text is written."""
    placeholders: tuple[tuple[str, str], ...] = ()
    """What may stand in a text for something else, as `{name}`: pairs of a name and what it stands for."""
    usual: str = ""
    """What an empty text is taken for, written with placeholders."""
    fresh: Json = None
    """What a form for something new begins with, where that is not the default; None: the default."""

    @property
    def beginning(self) -> Json:
        """What a form for something new begins with."""
        return self.default if self.fresh is None else self.fresh

    def clean(self, value: Json) -> Json:
        """The value in its own type, or SettingsError that names this setting."""
        try:
            cleaned = _READERS[self.kind](value)
        except (TypeError, ValueError, OverflowError) as error:
            raise SettingsError(f"{self.name}: {value!r} is not a value of kind {self.kind}") from error
        self._check(cleaned)
        return cleaned

    def _check(self, value: Json) -> None:
        if self.choices and value not in [choice for choice, _ in self.choices]:
            raise SettingsError(
                f"{self.name}: {value!r} is not one of {', '.join(c for c, _ in self.choices)}"
            )
        size, said = (len(value), f"{len(value)} characters") if self.kind == "text" else (value, value)
        if self.minimum is not None and size < self.minimum:
            raise SettingsError(f"{self.name}: {said} is below {self.minimum}")
        if self.maximum is not None and size > self.maximum:
            raise SettingsError(f"{self.name}: {said} is above {self.maximum}")
        if self.placeholders:
            self._check_placeholders(value)

    def _check_placeholders(self, text: str) -> None:
        known = [name for name, _ in self.placeholders]
        unknown = [name for name in placeholders_in(text) if name not in known]
        if unknown:
            listed = ", ".join(f"{{{name}}}" for name in known)
            raise SettingsError(f"{self.name}: nothing is called {{{unknown[0]}}}; there are {listed}")


AMOUNT_PATTERN = re.compile(r"0|[1-9][0-9]{0,8}")
"""An amount in a command: a whole number from 0, written in one way only."""
PLACEHOLDER_PATTERN = re.compile(r"\{([a-z_]+)\}")


def placeholders_in(text: str) -> list[str]:
    """The names in braces that stand in a text, in their order; other braces are only braces."""
    return PLACEHOLDER_PATTERN.findall(text)


def _read_int(value: Json) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(value)
    return int(value)


def _read_float(value: Json) -> float:
    number = float(value)
    if isinstance(value, bool) or number != number or number in (float("inf"), float("-inf")):
        raise ValueError(value)
    return number


def _read_bool(value: Json) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _read_text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


_READERS = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_bool,
    "text": _read_text,
    "choice": _read_text,
}


def clean_settings(declared: Iterable[Setting], given: Mapping[str, Json]) -> dict[str, Json]:
    """Every declared setting with its value or default; SettingsError for a wrong or unknown one."""
    known = {setting.name: setting for setting in declared}
    for name in given:
        if name not in known:
            raise SettingsError(f"{name}: no such setting; there are {', '.join(known)}")
    return {name: setting.clean(given.get(name, setting.default)) for name, setting in known.items()}


METRIC_NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of `World.score()`. What pages, files and the analysis say of it follows from here.
    Figures of two worlds that are equal share a column; how they are told to who plays is no part of that.

    `kind` is `count` (a whole number from 0), `share` (from 0 to 1) or `number` (from `low` to `high`).
    ValueError for one that contradicts itself.
    """

    name: str
    """Its key in `World.score()`, its column in files: small letters and digits, `_` between words."""
    kind: Literal["count", "share", "number"]
    label: str
    """As tables and charts call it: `Success rate`. No two figures of one world share it."""
    meaning: str = ""
    """What the codebook says of it, without a full stop; by default the label."""
    so_far: str = ""
    """What it says after a step; empty for one that only a whole episode has: it is in no row of a step."""
    undefined: str = ""
    """When there is none (`score` says None): `blank where both are 0`. Empty if there always is one."""
    unit: str = ""
    better: Literal["higher", "lower", "neither"] = "higher"
    of: tuple[str, str] | None = None
    """A share of two counts of this world: of what was done, by what was done and what was missed. Over
    several episodes it is the share of their sums."""
    measured: bool = True
    """It is compared between conditions."""
    words: tuple[str, str] | None = field(default=None, compare=False)
    """What it counts, for who played: after a 1 and after any other number; None is not shown to them."""
    low: float | None = 0.0
    """Ends of a number, both inclusive; None where it has no end."""
    high: float | None = None

    def __post_init__(self) -> None:
        if not METRIC_NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"figure {self.name!r}: not words of small letters and digits with _ between")
        if self.kind not in ("count", "share", "number"):
            raise ValueError(f"figure {self.name!r}: {self.kind!r} is no kind of figure")
        if self.of and self.kind != "share":
            raise ValueError(f"figure {self.name!r}: only a share is made of two counts")

    @property
    def formula(self) -> str:
        """How it follows from others; empty if it does not."""
        return "{0} / ({0} + {1})".format(*self.of) if self.of else ""

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The least and the most it can be; None where it has no end."""
        return {"share": (0.0, 1.0), "count": (0.0, None)}.get(self.kind, (self.low, self.high))

    def holds(self, value: Json) -> bool:
        """Whether this is a value of it."""
        low, high = self.ends
        whole = self.kind != "count" or type(value) is int
        return whole and (low is None or low <= value) and (high is None or value <= high)

    @property
    def better_words(self) -> str:
        """Which way is better, in words; empty where neither is."""
        return "" if self.better == "neither" else f"{self.better} is better"

    def shown(self, value: float) -> str:
        """A value as people read it: `3`, `67 %`, `12.5`."""
        if self.kind == "share":
            return f"{value:.0%}".replace("%", " %")
        return f"{value:.0f}" if self.kind == "count" else f"{round(value, 2):g}"


class World(ABC):
    """One game in play. Same settings, seed and commands give the same states, in every process.

    Chance comes only from the generator that `reset` seeds, and its state is part of `to_dict`. What a world
    tells (brief, observation, legal actions, score, state) is the caller's: a later step does not change it,
    but for the large parts of the state.
    """

    kind: ClassVar[str]
    """The name in the registry, stored with every episode."""
    version: ClassVar[int]
    """Raised when the same commands would no longer give the same states."""
    settings: ClassVar[tuple[Setting, ...]]
    """What a researcher may set; `seats` is not among them."""
    idle: ClassVar[Command] = ("noop",)
    """What a seat does that nobody commands; always carried out."""
    passes_by: ClassVar[bool] = False
    """Seats that it does not ask (`asks`) are passed by in every episode: its actions last, for example.
    Elsewhere that is the researcher's choice."""
    moves: ClassVar[frozenset[str]] = frozenset()
    """Kinds of action (`kind_of`) that only take a seat elsewhere; all others but waiting are work."""
    min_seats: ClassVar[int] = 1
    max_seats: ClassVar[int]
    figures: ClassVar[tuple[Metric, ...]]
    """What `score` measures, the most important first."""
    drawn: ClassVar[str] = "events"
    """What chance brings into an episode, in the plural: `waves`."""
    drawn_alike: ClassVar[str] = "as far as they do not follow from what was done"
    """How far the same seed brings the same, whoever plays; completes `the same events, …`."""
    news: ClassVar[str] = ""
    """Events of the world's own, in words that end a sentence: `ships that came in`."""
    secret: ClassVar[tuple[str, ...]] = ()
    """Keys of `brief` whose values only their own seat may know."""
    large: ClassVar[tuple[str, ...]] = ()
    """Keys of `to_dict` whose values are `LargeMap`s (`kitchen.contract.large_state`): parts of the state
    with so many entries that only what a step changes of them is hashed and stored."""

    seats: int
    """How many seats play."""

    @classmethod
    @abstractmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """A world ready for `reset`; SettingsError if these settings cannot be played."""

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Go to the start state that follows from the seed."""

    @property
    @abstractmethod
    def clock(self) -> int:
        """Steps taken since `reset`."""

    @property
    @abstractmethod
    def length(self) -> int | None:
        """Steps after which the episode ends by itself; None where only its goal ends it."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """The game ended by its own rules (its last step is one of them)."""

    @property
    def tick_ms(self) -> int | None:
        """Milliseconds from one step to the next where a clock takes them, whoever has commanded by then; the
        same for the whole episode. None: a step is taken when all have."""
        return None

    @property
    def cut_off(self) -> bool:
        """The game was ended by a limit that is not among its rules (Gymnasium's *truncated*)."""
        return False

    @final
    @property
    def has_ended(self) -> bool:
        """Return whether no step is left: the game is over, or it was cut off."""
        return self.over or self.cut_off

    @abstractmethod
    def brief(self, seat: int) -> dict[str, Json]:
        """What this seat knows before it plays and that never changes: rules, things, timing. It follows from
        seats and settings alone, not from the seed: the guide shows it before the episode is created."""

    def public_brief(self) -> dict[str, Json]:
        """Return what anybody may know before the game, people without a seat included: the entries that are
        the same in the briefs of all seats, without those in `secret`."""
        first, *others = (self.brief(seat) for seat in range(self.seats))
        return {
            name: value
            for name, value in first.items()
            if name not in self.secret and all(name in other and other[name] == value for other in others)
        }

    @abstractmethod
    def observe(self, seat: int) -> dict[str, Json]:
        """What this seat sees now."""

    @abstractmethod
    def legal_actions(self, seat: int) -> list[Command]:
        """Exactly the commands that would be carried out if this seat acted first in the coming step. A
        command with an amount (`amounts`) is listed once, with the least amount. For a seat that is not
        asked: `idle`, and what else it may do in the middle of something (`asks`)."""

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return the commands of `legal_actions` whose last word is an amount: each without that word, with
        the least and the most amount that are allowed now."""
        return {}

    def allows(self, seat: int, command: Command) -> bool:
        """Return whether this command would be carried out if this seat acted first in the coming step: it is
        among `legal_actions`, or its amount is in the range that `amounts` gives."""
        return command in self.legal_actions(seat) or self._is_allowed_amount(seat, command)

    @final
    def _is_allowed_amount(self, seat: int, command: Command) -> bool:
        bounds = self.amounts(seat).get(command[:-1]) if command else None
        if bounds is None or not AMOUNT_PATTERN.fullmatch(command[-1]):
            return False
        least, most = bounds
        return least <= int(command[-1]) <= most

    @classmethod
    def kind_of(cls, command: Command) -> str:
        """Which kind of action a command is, in a word: those of one kind are one in pictures of what seats
        did. By default its verb."""
        return command[0] if command else "nothing"

    def asks(self, seat: int) -> bool:
        """Return whether this seat has something to choose in the coming step: it is not in the middle of
        something. Where seats are passed by, a step does not wait for a seat that is not asked: without a
        command it does `idle`, which is among its `legal_actions`.

        A seat that is not asked *may act* if `legal_actions` has more than `idle` (for example `stop`): its
        player may command it until the step runs. If `idle` is all, nobody can command it."""
        return True

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """Commands that are not legal now and that another seat could still make so, one of those that act
        `earlier` in the coming step (None: any other may)."""
        return []

    def plannable(self, seat: int) -> list[Command]:
        """What a person in this seat is offered to do in steps to come, in the order of a list to choose
        from; it changes rarely, and need not be legal now. Nothing: no plans are offered in this world."""
        return []

    def aims(self, seat: int) -> list[Aim]:
        """All that this seat can be asked to bring about (`kitchen.contract.assigned_jobs`), in the order of
        a list to choose from; the same for the whole episode. Nothing: jobs are given in words alone."""
        return []

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """What `aim_status` has to know of this moment, in which this seat is asked for it."""
        return None

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """How one of its aims stands that this seat was asked for when `aim_mark` said `since`: `SUCCESS`,
        `FAIL` or `UNKNOWN`."""
        return UNKNOWN

    def accepts(self, seat: int, command: Command) -> bool:
        """Whether a person in this seat may hand in this command now: what the menu offers, unless the world
        takes more (free words, for example)."""
        return self.allows(seat, command) or command in self.anticipated_actions(seat)

    def visible(self, seat: int, event: Event) -> bool:
        """Whether this seat gets to know this event. It follows from the seat and the event alone, at
        whatever moment of the episode it is asked. Another seat's command is asked about as an event of kind
        `commanded`, with `command` in its data, before it runs; what it is about to do as one of kind
        `intends`, with the `Intent` as its data; what is left of its plan as one of kind `plans`, with the
        commands as `left`."""
        return True

    @abstractmethod
    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out one step. A refused or senseless command is an event, never an exception, and stops
        nobody else's. A seat without a command does what the world does by default (noop, stay)."""

    @abstractmethod
    def score(self) -> dict[str, Json]:
        """Every one of `figures` as it stands, by name; one that is undefined is None. What else it says is
        detail for the world's own page."""

    def chances(self) -> Mapping[str, MetricLimits]:
        """How often each share of two counts (`Figure.of`) can count in an episode, by the figure's name:
        it follows from the settings alone. One that is not among them can count as often as one likes."""
        return {}

    @abstractmethod
    def to_dict(self) -> dict[str, Json]:
        """The whole state as JSON with `kind`, `version`, `seats` and `settings`. Under each key in `large`
        is the world's own `LargeMap`, which later steps change."""

    @classmethod
    @abstractmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """The world that `to_dict` described; StateError if it cannot be read. Under each key in `large` is
        a dict that is not the world's own: make a new `LargeMap` of it."""

    @final
    def large_parts(self) -> dict[str, LargeMap]:
        """The large parts of the state, by name: the world's own."""
        state = self.to_dict() if self.large else {}
        return {name: state[name] for name in self.large}

    @final
    def frozen_state(self) -> WorldState:
        """The present state, which later steps leave alone."""
        state = self.to_dict()
        parts = {name: state[name].freeze() for name in self.large}
        roots = {name: part.root for name, part in parts.items()}
        return WorldState(canonical_json({**state, **roots}), parts)

    @final
    def state_text(self) -> str:
        """The state as text: the canonical JSON of `to_dict`, in which each large part is its root."""
        return self.frozen_state().text

    @final
    def state_hash(self) -> str:
        """SHA-256 (64 hex digits) of `state_text`: equal states, equal hashes."""
        return text_hash(self.state_text())


def ordered_commands(turn: TurnCommands) -> Iterable[tuple[int, Command]]:
    """The pairs (seat, command) of a turn in the order in which they are to run."""
    return turn.items() if isinstance(turn, Mapping) else turn
