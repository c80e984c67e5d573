"""Define the `World` interface, which every game implements.

A world has one or more seats (places of players), and changes in steps. Each step carries out one command per
seat. A turn-based world waits for these commands. In a real-time world, a clock starts each step. Seats may
differ in their commands and in what they see.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Self, final

from kitchen.contract.canonical_json import Json as Json
from kitchen.contract.canonical_json import canonical_hash as canonical_hash
from kitchen.contract.canonical_json import canonical_json as canonical_json
from kitchen.contract.canonical_json import text_hash as text_hash
from kitchen.contract.declared_settings import Setting
from kitchen.contract.large_map import LargeMap, WorldState
from kitchen.contract.metric_definitions import Metric as Metric
from kitchen.contract.metric_definitions import MetricLimits

Command = tuple[str, ...]
"""The command of one seat: a verb and its arguments, without the seat. `("get", "storage0", "rice")`."""

Aim = tuple[str, ...]
"""A goal that a seat can be asked to reach, in the codes of the world: `("serve", "salmonSushi")`."""

SUCCESS, FAIL, UNKNOWN = "success", "fail", "unknown"
"""Status of an aim: it is reached, it cannot be reached any more, or neither is known yet."""

Intent = Mapping[str, str]
"""The next action of a seat, in the codes of the world, which its page puts into words (`do` an action, and
its objects). Or free text: `said` is in the agent's own words, `thought` is its reasoning."""

TurnCommands = Mapping[int, Command] | Sequence[tuple[int, Command]]
"""Commands by seat. Where the world runs them one by one, they are in that order."""


class Event(NamedTuple):
    """One event of a step, as the log stores it. Several episodes share event objects, so do not change
    `data`.

    `kind` is `performed`, `refused`, `message`, `plan_broken`, `time_lost`, `probe_pause`, or a kind of the
    world's own. `seat` is the seat that caused the event, None for the world itself. `data` is JSON.
    `performed` and `refused` carry `command`; `refused` also carries `reasons` (codes).

    The platform adds three kinds. `plan_broken`: after this step, the rest of a seat's plan was dropped. Its
    data are `why` (`illegal` or `replaced`), the commands `left`, and the step in which the plan was made
    (`planned_in`). `time_lost`: before this step, the clock was stopped for `milliseconds`.
    `probe_pause`: before this step, questions to people held the game for `milliseconds`.
    """

    kind: str
    seat: int | None = None
    data: Mapping[str, Json] = {}

    def to_json(self) -> dict[str, Json]:
        """Return the event as one JSON object: `kind`, `seat` and all entries of `data`."""
        return {"kind": self.kind, "seat": self.seat, **self.data}


AMOUNT_PATTERN = re.compile(r"0|[1-9][0-9]{0,8}")
"""The pattern of an amount in a command: a whole number from 0, without leading zeros."""


class World(ABC):
    """One game in play. The same settings, seed and commands give the same states in every process.

    Random numbers come only from the generator that `reset` seeds. The generator's state is part of
    `to_dict`. Everything that a world returns (brief, observation, legal actions, score, state) is a copy,
    which later steps do not change. Only the large parts of the state are not copied.
    """

    kind: ClassVar[str]
    """The name in the registry, stored with every episode."""
    event_kinds: ClassVar[Mapping[str, str]] = {}
    """Kinds of the world's events at which questions to people can hold the game, with a label for staff."""
    version: ClassVar[int]
    """The version of the rules. Increase it when the same commands would no longer give the same states."""
    settings: ClassVar[tuple[Setting, ...]]
    """The settings that a researcher may set; `seats` is not among them."""
    idle: ClassVar[Command] = ("noop",)
    """The command of a seat without one; it is always carried out."""
    passes_by: ClassVar[bool] = False
    """True if every episode skips seats that have nothing to choose (`asks`), for example because actions
    last several steps. In other worlds the researcher chooses this."""
    shows_plans: ClassVar[bool] = False
    """True if everybody sees what is left of the plans of other seats, as far as `visible` allows. In other
    worlds agents see their own plans only, and people see others' where the study shows intents."""
    moves: ClassVar[frozenset[str]] = frozenset()
    """Kinds of action (`kind_of`) that only move a seat. All others except waiting count as work."""
    waits: ClassVar[frozenset[str]] = frozenset()
    """Kinds of command (`kind_of`), besides that of `idle`, that only wait. The page may send them by
    itself: after an action, and one step after another."""
    queued: ClassVar[frozenset[str]] = frozenset()
    """Kinds of command (`kind_of`) of which a person may choose several at once. The page then sends them one
    after another, each as soon as its step opens."""
    planned_step_seconds: ClassVar[float] = 0.0
    """Minimum seconds that a step of a person's plan stays open, so that its movement is seen."""
    min_seats: ClassVar[int] = 1
    max_seats: ClassVar[int]
    figures: ClassVar[tuple[Metric, ...]]
    """The metrics that `score` returns, the most important first."""
    drawn: ClassVar[str] = "events"
    """The plural noun for what the world draws at random in an episode."""
    drawn_alike: ClassVar[str] = "if they do not depend on what was done before"
    """A phrase that says to what extent the same seed gives the same events to all players. It completes `the
    same events, …`."""
    news: ClassVar[str] = ""
    """The world's own events, in words that end a sentence: `ships that came in`."""
    secret: ClassVar[tuple[str, ...]] = ()
    """Keys of `brief` whose values only their own seat may know."""
    costly: ClassVar[bool] = False
    """True if it takes long to continue from a stored state, because the steps before it are played again. A
    process then keeps the world object of a live episode from step to step (`take_over`)."""
    draws_frames: ClassVar[bool] = False
    """True if the world draws images of its state (`frame`). Pages show them."""
    large: ClassVar[tuple[str, ...]] = ()
    """Keys of `to_dict` whose values are `LargeMap`s (`kitchen.contract.large_map`). These are parts of the
    state with many entries. Only the entries that a step changes are hashed and stored."""

    seats: int
    """Number of seats that play."""

    @classmethod
    @abstractmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """Return a new world, on which `reset` must be called. Raises SettingsError if the world cannot be
        played with these seats and settings."""

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Set the start state that belongs to this seed."""

    @property
    @abstractmethod
    def clock(self) -> int:
        """Return the number of steps taken since `reset`."""

    @property
    @abstractmethod
    def length(self) -> int | None:
        """Return the number of steps of an episode. None if the episode ends only when the goal is
        reached."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Return True if the game has ended by its own rules, for example after its last step."""

    @property
    def tick_ms(self) -> int | None:
        """Return the milliseconds between two steps in a real-time world. A clock runs each step with the
        commands that have arrived by then. The value stays the same for a whole episode.

        None for a turn-based world: its steps wait until all seats have commanded.
        """
        return None

    @property
    def cut_off(self) -> bool:
        """Return True if a limit outside the rules has ended the game (*truncated* in Gymnasium)."""
        return False

    @final
    @property
    def has_ended(self) -> bool:
        """Return True if no further step can be taken: the game is over, or it was cut off."""
        return self.over or self.cut_off

    @abstractmethod
    def brief(self, seat: int) -> dict[str, Json]:
        """Return the facts that this seat knows before the game and that never change: rules, things, timing.

        They depend only on seats and settings, not on the seed: the guide shows them before the episode
        exists.
        """

    def public_brief(self) -> dict[str, Json]:
        """Return the facts that anybody may know before the game: what the briefs of all seats have in
        common. Keys in `secret` are left out."""
        first, *others = (self.brief(seat) for seat in range(self.seats))
        return {
            name: value
            for name, value in first.items()
            if name not in self.secret and all(name in other and other[name] == value for other in others)
        }

    def public_state(self) -> dict[str, Json]:
        """Return the facts that anybody may know of the present state, such as what is asked for now. A
        leader who does not see the world gets them.

        They hold nothing that is hidden from a seat. By default, they are the `steps_left` of an episode with
        a fixed length. A world with a time limit (`cut_off`) adds the steps until then.
        """
        return {} if self.length is None else {"steps_left": max(0, self.length - self.clock)}

    @abstractmethod
    def observe(self, seat: int) -> dict[str, Json]:
        """Return what this seat can observe now."""

    def picture(self, seat: int) -> dict[str, Json]:
        """Return what a drawing of the world needs in addition to the observation, for the person in this
        seat. Agents never get it. It must hold nothing that the seat may not know."""
        return {}

    def frame(self) -> bytes:
        """Return an image of the present state as a file (WebP or JPEG). Everybody sees the same image. Call
        this only if `draws_frames`, and in a process of its own: drawing libraries often cannot be used by
        several threads."""
        raise NotImplementedError

    @abstractmethod
    def legal_actions(self, seat: int) -> list[Command]:
        """Return exactly the commands that would be carried out if this seat acted first in the coming step.

        A command with an amount (`amounts`) is listed once, with the smallest amount. If the seat cannot
        choose a command (`asks` is false), the list has `idle`, and commands that interrupt the seat's
        action.
        """

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return the range (smallest, largest) of the amount, for each command in `legal_actions` that ends
        with an amount. The keys are these commands without the amount."""
        return {}

    def allows(self, seat: int, command: Command) -> bool:
        """Return whether this command would be carried out if this seat acted first in the coming step.
        The command must be in `legal_actions`, or have an amount in the range that `amounts` gives."""
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
        """Return the kind of a command. Charts group commands by kind. By default, the kind is the
        command's verb."""
        return command[0] if command else "nothing"

    @final
    @classmethod
    def is_wait(cls, command: Command) -> bool:
        """Return whether a command only waits: it is of the kind of `idle`, or of one of `waits`."""
        kind = cls.kind_of(command)
        return kind in cls.waits or kind == cls.kind_of(cls.idle)

    def asks(self, seat: int) -> bool:
        """Return whether this seat can choose a command in the coming step. False while an action of several
        steps occupies the seat.

        Episodes can skip such seats: a step then does not wait for them, and they do `idle`. But if
        `legal_actions` has another command, such as `stop`, the seat *may act*. Its player can then give this
        command until the step runs.
        """
        return True

    def only_waits(self, seat: int) -> bool:
        """Return whether the action that occupies this seat is only waiting or following somebody. The seat's
        member can then talk meanwhile. Called only if `asks` is false for the seat."""
        return False

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """Return commands that are illegal now, but become legal if another seat acts first in the coming
        step. `earlier` are the seats that can act first; None means all others."""
        return []

    def plannable(self, seat: int) -> list[Command]:
        """Return the commands that a person in this seat may plan for later steps. The page lists them in
        this order. They need not be legal now.

        If the list is empty, the world does not support plans.
        """
        return []

    def can_plan(self, seat: int, command: Command) -> bool:
        """Return whether a person in this seat may plan this command.

        By default every command may be planned. If it turns out to be impossible in its step, the plan ends.
        A world that knows all commands of a seat refuses other commands.
        """
        return True

    def can_request(self, seat: int, command: Command) -> bool:
        """Return whether a teammate may request this command from this seat. By default, the command must
        be in `plannable`."""
        return command in self.plannable(seat)

    def needs_answer(self, data: Mapping[str, Json]) -> bool:
        """Return whether a busy person has to answer a message with this data before the step goes on. False
        for fixed sentences that only tell something, so that no plan stops for them."""
        return True

    def aims(self, seat: int) -> list[Aim]:
        """Return all aims (goals such as `("serve", "salmonSushi")`) that others can ask this seat to reach.
        They are the same for the whole episode, and the page lists them in this order.

        If the list is empty, jobs (`kitchen.contract.assigned_jobs`) consist of text only.
        """
        return []

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return facts about the present moment, to which `aim_status` compares a later one. Called when the
        seat is asked to reach the aim (a goal)."""
        return None

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if an aim (a goal) is reached, FAIL if it cannot be reached any more, else
        UNKNOWN. `since` is what `aim_mark` returned when the seat was asked to reach the aim."""
        return UNKNOWN

    def accepts(self, seat: int, command: Command) -> bool:
        """Return whether a person in this seat may submit this command now.

        By default, commands are accepted that are legal now, or that another seat could make legal
        (`anticipated_actions`). A world may accept more, such as typed text.
        """
        return self.allows(seat, command) or command in self.anticipated_actions(seat)

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether this seat may see this event. The answer depends only on the seat and the event, not
        on the time.

        The method is also called for three kinds of event that are not in the log:

        - `commanded`: another seat's command before it runs, as `command` in the data.
        - `intends`: what another seat is about to do, with the `Intent` as data.
        - `plans`: the remaining commands of another seat's plan, as `left` in the data.
        """
        return True

    @abstractmethod
    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out one step and return its events. A seat without a command does `idle`. A refused or
        meaningless command gives an event, never an exception, and does not affect other commands."""

    @abstractmethod
    def score(self) -> dict[str, Json]:
        """Return the present value of every metric in `figures`, by name. None if a value is undefined.
        Other entries are details for the world's own page."""

    def measure(self, metric: str) -> Json:
        """Return the present value of one metric in `figures`. A world may compute it faster than `score`."""
        return self.score()[metric]

    def hidden_metrics(self, seat: int) -> frozenset[str]:
        """Return the names of the metrics that this seat may not see before the episode is over. They tell
        what is hidden from the seat, such as whether a block is right. By default, and in every real-time
        world, there are none."""
        return frozenset()

    def chances(self) -> Mapping[str, MetricLimits]:
        """Return the maximum number of things that can be counted in an episode, by metric name. This
        concerns metrics that are a share of two counts (`Metric.of`). The limits depend only on the settings.
        Metrics without an entry have no limit."""
        return {}

    @abstractmethod
    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as JSON, with `kind`, `version`, `seats` and `settings`.

        The values under the keys in `large` are the world's own `LargeMap` objects, not copies. Later steps
        change them.
        """

    @classmethod
    @abstractmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the world from a state that `to_dict` returned. Raises StateError if the state cannot be
        read.

        The values under the keys in `large` are dicts that the caller still owns: copy each into a new
        `LargeMap`.
        """

    def prepare(self) -> None:  # noqa: B027 - most worlds have nothing to do
        """Do now what the next step would have to do first, if the world is `costly`. Raises StateError if
        the stored state cannot be continued."""

    def take_over(self, earlier: World) -> bool:
        """Continue with the live parts of `earlier`, which is an older object of the same episode, if the
        world is `costly`. Return whether they were taken: `earlier` must not be used afterwards."""
        return False

    @final
    def large_parts(self) -> dict[str, LargeMap]:
        """Return the large parts of the state (parts with many entries), by name: the values under the keys
        in `large`. They are the world's own objects, not copies."""
        state = self.to_dict() if self.large else {}
        return {name: state[name] for name in self.large}

    @final
    def frozen_state(self) -> WorldState:
        """Return a snapshot of the state that later steps do not change."""
        state = self.to_dict()
        parts = {name: state[name].freeze() for name in self.large}
        roots = {name: part.root for name, part in parts.items()}
        return WorldState(canonical_json({**state, **roots}), parts)

    @final
    def state_text(self) -> str:
        """Return the canonical JSON of the state. Each large part (a `LargeMap`) is replaced by its root
        hash."""
        return self.frozen_state().text

    @final
    def state_hash(self) -> str:
        """Return the SHA-256 (64 hex digits) of `state_text`. Equal states have equal hashes."""
        return text_hash(self.state_text())


def ordered_commands(turn: TurnCommands) -> Iterable[tuple[int, Command]]:
    """Return the (seat, command) pairs of a step in the order in which they run."""
    if isinstance(turn, dict):  # asking an abstract class is slow
        return turn.items()
    return turn.items() if isinstance(turn, Mapping) else turn
