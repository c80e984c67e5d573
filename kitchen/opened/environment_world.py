"""Make a PettingZoo environment a `World`.

In a parallel environment, one step is one step of all living agents. In an AEC environment, one step is the
action of the agent whose turn it is; all other seats are not asked. The state is settings, seed, log and
digest, and `now`: what pages show of the present state. So a page is drawn without the environment. It is
made when a step is taken or a frame is drawn. The log is then played again, and compared with the digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Self

from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.world import Command, Event, Json, TurnCommands, World, ordered_commands
from kitchen.contract.world_errors import SettingsError, StateError, WorldError
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.opened.environment_run import DESCRIPTIONS, EnvironmentRun
from kitchen.opened.frame_files import frame_file

MOST_REPLAY_MS = 1500.0
"""Milliseconds that playing an episode again may take. A process that takes over an episode under a clock has
no longer (`kitchen.realtime.realtime_storage.LEASE_SECONDS`)."""
WAIT: Command = ("wait",)
"""The command of a seat that is not asked, where agents act in turn."""
NOT_NOW, UNKNOWN_COMMAND = "not_now", "unknown_command"
UNKNOWN_SEAT, DUPLICATE_SEAT = "unknown_seat", "duplicate_seat"
NOT_THE_SAME = "{kind}: this environment does not play the same again"
TOO_LONG = (
    "{name}: playing {steps} steps again would take {seconds:.1f} s after a failure; at most {most} steps do"
)
OBSERVED = frozenset({"seat", "alive", "turn"})
"""Names in an observation besides those of the adapter (`EnvironmentAdapter.description`)."""
RULED_FACTS = ("alive", "turn", "legal", "rewards")
"""The facts that the environment's rules decide. The others are the adapter's words and metrics, which a new
version of the adapter may change while episodes are played."""
FACTS = {"alive", "turn", "legal", DESCRIPTIONS, "rewards", "score"}


class EnvironmentWorld(World):
    """The base class of all worlds that are made from an adapter (`world_class`)."""

    adapter: ClassVar[EnvironmentAdapter]
    passes_by: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    draws_frames: ClassVar[bool] = True
    news: ClassVar[str] = "rewards, and agents that were out"
    drawn: ClassVar[str] = "events of the environment"

    def __init__(self, settings: Mapping[str, Json]) -> None:
        self.seats = len(self.adapter.agents)
        self.chosen = clean_settings(self.settings, settings)
        self._check_length()
        self.reset(0)

    def _check_length(self) -> None:
        steps, each = self._most_steps(), self.adapter.replay_ms
        if steps and steps * each > MOST_REPLAY_MS:
            name, most = self.adapter.length or self.adapter.kind, int(MOST_REPLAY_MS / each)
            seconds = steps * each / 1000
            raise SettingsError(TOO_LONG.format(name=name, steps=steps, seconds=seconds, most=most))

    def _most_steps(self) -> int:
        return int(self.chosen[self.adapter.length]) if self.adapter.length else self.adapter.most_steps

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """Return a new world. Raises SettingsError if the number of seats or a setting is wrong, or if an
        episode could be too long to be played again in time."""
        if isinstance(seats, bool) or seats != cls.max_seats:
            raise SettingsError(f"seats: {seats!r} is not {cls.max_seats}")
        return cls(settings)

    def reset(self, seed: int) -> None:
        """Set the start state that belongs to this seed. A new environment is made when it is needed."""
        self.seed = seed
        self.log: list[Json] = []
        self._digest = ""
        self._now: dict[str, Json] | None = None
        self._run: EnvironmentRun | None = None

    # the live environment

    def _live(self) -> EnvironmentRun:
        """Return the environment in its present state. If there is none, play the log again. Raises
        StateError if it does not give the same state. A run that is longer than the log is discarded."""
        kept, self._run = self._run, None  # it is kept again when nothing has failed
        if kept is not None and len(kept.log) > len(self.log):
            kept = None
        run = kept or EnvironmentRun(self.adapter, self.chosen, self.seed)
        if self._now is None:
            self._now, self._digest = run.facts, run.digest
        elif kept is None or len(run.log) < len(self.log):
            for entry in self.log[len(run.log) :]:
                run.step(entry)
            same = all(run.facts[name] == self._now[name] for name in RULED_FACTS)
            if run.digest != self._digest or not same:
                raise StateError(NOT_THE_SAME.format(kind=self.kind))
        self._run = run
        return run

    @property
    def now(self) -> dict[str, Json]:
        """Return what pages and players need to know of the present state (`EnvironmentRun.facts`)."""
        if self._now is None:
            self._live()
        return self._now or {}

    @property
    def digest(self) -> str:
        """Return the digest of everything that the environment has shown since its reset."""
        _ = self.now
        return self._digest

    def prepare(self) -> None:
        """Play the log again, if this was not done yet."""
        self._live()

    def take_over(self, earlier: World) -> bool:
        """Continue with the environment of `earlier`, if this world continues the steps that it has taken.
        Return whether it was taken."""
        if not isinstance(earlier, EnvironmentWorld) or earlier._run is None or self._run is not None:
            return False
        same = (earlier.kind, earlier.chosen, earlier.seed) == (self.kind, self.chosen, self.seed)
        taken = earlier._run.log
        if not same or self._now is None or taken != self.log[: len(taken)]:
            return False
        self._run, earlier._run = earlier._run, None
        return True

    # what is known

    @property
    def clock(self) -> int:
        """Return the number of steps taken."""
        return len(self.log)

    @property
    def length(self) -> int | None:
        """Return None: an environment may end before its limit of steps."""
        return None

    @property
    def over(self) -> bool:
        """Return whether no agent is left."""
        return not any(self.now["alive"])

    @property
    def tick_ms(self) -> int | None:
        """Return the milliseconds between steps. None by turns."""
        return self.adapter.tick_ms

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the settings, the rules, and the name of this seat's agent."""
        return {**self.chosen, "rules": " ".join(self.adapter.guide), "agent": self.adapter.agents[seat]}

    def public_state(self) -> dict[str, Json]:
        """Return the steps left, if a setting limits them."""
        most = self._most_steps()
        return {"steps_left": max(0, most - self.clock)} if most else {}

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the adapter's description of the state, whether the seat's agent still acts, and whose turn
        it is (None if all act at once)."""
        now = self.now
        described: dict[str, Json] = _copied(now[DESCRIPTIONS][seat])
        return {**described, "seat": seat, "alive": now["alive"][seat], "turn": now["turn"]}

    def asks(self, seat: int) -> bool:
        """Return whether the agent of this seat acts in the coming step."""
        now = self.now
        return bool(now["alive"][seat]) and now["turn"] in (None, seat)

    def legal_actions(self, seat: int) -> list[Command]:
        """Return the actions that the environment's mask allows; for a seat that is not asked, `idle`."""
        return [(code,) for code in self._codes(seat)] if self.asks(seat) else [self.idle]

    def _codes(self, seat: int) -> list[str]:
        legal: list[str] | None = self.now["legal"][seat]
        return list(self.adapter.actions) if legal is None else list(legal)

    def score(self) -> dict[str, Json]:
        """Return the sum of all rewards, the rewards of each seat, and the adapter's own metrics."""
        now = self.now
        rewards = {f"reward_seat_{seat}": value for seat, value in enumerate(now["rewards"])}
        return {**now["score"], "total": sum(now["rewards"]), **rewards}

    def frame(self) -> bytes:
        """Return the environment's own image of the present state, as a file. Raises WorldError if it cannot
        be drawn."""
        try:
            return frame_file(self._live().image(), clocked=self.tick_ms is not None)
        except WorldError:
            raise
        except Exception as error:  # an environment can raise anything
            raise WorldError(f"{self.kind}: {error!r}") from error

    # steps

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out one step of the environment. A seat without a command does `idle`; if agents act in turn,
        nothing happens without a command. If the environment or the adapter raises an error, the world stays
        as it was, and the environment is made again for the next step."""
        if self.has_ended:
            return ()
        run, events, given = self._live(), list[Event](), dict[int, Command]()
        for seat, command in ordered_commands(turn):
            events.append(self._checked(seat, tuple(command), given))
        entry = self._entry(given, in_turns=run.in_turns)
        self._run = None  # an environment whose step fails is not used again
        events += run.step(entry)
        self._run = run
        self.log = [*self.log, entry]
        self._now, self._digest = run.facts, run.digest
        return tuple(events)

    def _checked(self, seat: int, command: Command, given: dict[int, Command]) -> Event:
        """Return the event of one command. If it is carried out, it is added to `given`."""
        if code := self._refusal_code(seat, command, given):
            return Event("refused", seat, {"command": list(command), "reasons": [code]})
        given[seat] = command
        return Event("performed", seat, {"command": list(command)})

    def _refusal_code(self, seat: int, command: Command, given: Mapping[int, Command]) -> str:
        if not 0 <= seat < self.seats:
            return UNKNOWN_SEAT
        if seat in given:
            return DUPLICATE_SEAT
        if command in self.legal_actions(seat):
            return ""
        is_known = command == self.idle or (len(command) == 1 and command[0] in self.adapter.actions)
        return NOT_NOW if is_known else UNKNOWN_COMMAND

    def _entry(self, given: Mapping[int, Command], *, in_turns: bool) -> Json:
        """Return the log entry of a step with these commands."""
        if in_turns:
            command = given.get(self.now["turn"])
            return None if command is None else self._value(command)
        return [self._seat_value(seat, given.get(seat)) for seat in range(self.seats)]

    def _seat_value(self, seat: int, command: Command | None) -> Json:
        if not self.now["alive"][seat]:
            return None
        if command is None:  # its idle action or, if the mask forbids that, the first one that it allows
            codes = self._codes(seat)
            command = self.idle if self.idle[0] in codes or not codes else (codes[0],)
        return self._value(command)

    def _value(self, command: Command) -> Json:
        return self.adapter.entries[command[0]].value

    # the state

    def to_dict(self) -> dict[str, Json]:
        """Return the state: settings, seed, log and digest, and what pages show now."""
        return {
            "kind": self.kind,
            "version": self.version,
            "seats": self.seats,
            "settings": dict(self.chosen),
            "seed": self.seed,
            "now": _copied(self.now),
            "log": _copied(self.log),
            "digest": self.digest,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the world from a state. The log is played again when the environment is needed. Raises
        StateError if the state is damaged or of another version."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise StateError(f"not a state of {cls.kind}, version {cls.version}")
        try:
            world = cls.create(seats=stored["seats"], settings=stored["settings"])
            world.seed, world.log = stored["seed"], _copied(stored["log"])
            world._now, world._digest = _copied(stored["now"]), str(stored["digest"])
            damaged = world._now.keys() != FACTS or not isinstance(world.log, list)
        except (KeyError, TypeError, AttributeError, SettingsError) as error:
            raise StateError(f"{cls.kind}: {error!r}") from error
        if damaged:
            raise StateError(f"{cls.kind}: a part of the state is missing")
        return world


def _copied(value: Json) -> Json:
    """Return a deep copy of JSON."""
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list | tuple) else value


@cache
def world_class(adapter: EnvironmentAdapter) -> type[EnvironmentWorld]:
    """Return the class of the world that this adapter describes. Raises ValueError if the description
    contradicts itself."""
    if adapter.idle and adapter.idle not in adapter.actions:
        raise ValueError(f"{adapter.kind}: idle {adapter.idle!r} is not one of its actions")
    if adapter.tick_ms and not adapter.idle:
        raise ValueError(f"{adapter.kind}: a world under a clock needs an idle action")
    idle: Command = (adapter.idle,) if adapter.idle else WAIT
    return type(
        adapter.kind,
        (EnvironmentWorld,),
        {
            "__doc__": f"The environment {adapter.kind} as a world.",
            "adapter": adapter,
            "kind": adapter.kind,
            "version": adapter.version,
            "settings": tuple(adapter.settings),
            "idle": idle,
            "min_seats": len(adapter.agents),
            "max_seats": len(adapter.agents),
            "figures": adapter.all_figures(),
        },
    )
