"""Define `RecordedTrial`: one finished game as settings, seed and commands, and write it as a text.

Anybody can play such a game again without a database. `TrialFormat` is a form of a world's own in which such
games are published; a world names it in its kit (`WorldKit.trials`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar

from kitchen.contract.canonical_json import canonical_json, text_hash
from kitchen.contract.data_limits import read_json
from kitchen.contract.world import Command, Json
from kitchen.contract.world_errors import SettingsError

Turn = Sequence[tuple[int, Command]]
"""The commands of one step as (seat, command), in the order in which they ran."""
MAX_STEPS = 10_000
"""Maximum number of steps of a recording in a text."""
FORMAT = "brigade recording 1"


class TrialError(ValueError):
    """Raised if a trial in a file is not what the rules give. The message is one line: the row, and the
    difference."""


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """One finished game: what was played, and all commands."""

    world: str
    version: int
    settings: Mapping[str, Json]
    seats: int
    seed: int
    turns: Sequence[Turn]
    trial: str = ""
    """The name of the trial in its file; no name of a person."""
    people: Sequence[bool] = ()
    """Whether a person played, by seat."""
    until: Mapping[str, Json] = field(default_factory=dict)
    """Values of metrics that ended the game; empty if its rules ended it."""

    def commands_of(self, seat: int, idle: Command) -> list[Command]:
        """Return this seat's command in each step; `idle` where it had none."""
        return [next((given for number, given in turn if number == seat), idle) for turn in self.turns]

    def to_text(self, idle: Command) -> str:
        """Return the game as a text of one line, which `recording_from_text` reads. Equal commands in a row
        are counted."""
        codes: dict[Command, int] = {}
        seats = []
        for seat in range(self.seats):
            numbers = (codes.setdefault(each, len(codes)) for each in self.commands_of(seat, idle))
            seats.append(" ".join(_run(code, len(list(same))) for code, same in groupby(numbers)))
        return canonical_json(
            {
                "kind": FORMAT,
                "world": self.world,
                "version": self.version,
                "settings": dict(self.settings),
                "seed": self.seed,
                "codes": [list(code) for code in codes],
                "seats": seats,
            }
        )


def _run(code: int, times: int) -> str:
    return f"{code}x{times}" if times > 1 else str(code)


def recording_digest(text: str) -> str:
    """Return the first twelve letters of the SHA-256 of a recording's text."""
    return text_hash(text.strip())[:12]


def recording_from_text(text: str) -> RecordedTrial:
    """Return the game in a text of `RecordedTrial.to_text`. Raises SettingsError if the text is something
    else."""
    try:
        return _read(read_json(text))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise SettingsError(f"recording: it cannot be read: {error}") from None


def _read(content: Any) -> RecordedTrial:
    if content["kind"] != FORMAT:
        raise ValueError(f"it is no {FORMAT}")
    codes = [tuple(map(str, code)) for code in content["codes"]]
    by_seat = [list(_commands(line, codes)) for line in content["seats"]]
    if not by_seat or len({len(each) for each in by_seat}) != 1:
        raise ValueError("its seats have different numbers of commands")
    settings, world = content["settings"], content["world"]
    if not isinstance(settings, dict) or not isinstance(world, str):
        raise ValueError("it has no world with settings")
    return RecordedTrial(
        world=world,
        version=int(content["version"]),
        settings=settings,
        seats=len(by_seat),
        seed=int(content["seed"]),
        turns=[tuple(enumerate(turn)) for turn in zip(*by_seat, strict=True)],
    )


def _commands(line: str, codes: Sequence[Command]) -> Iterator[Command]:
    left = MAX_STEPS
    for word in line.split():
        code, _, times = word.partition("x")
        count = int(times or 1)
        left -= count
        if left < 0 or count < 1 or int(code) < 0:
            raise ValueError(f"{word!r} is no run of commands")
        yield from [codes[int(code)]] * count


def safe_literal(text: str) -> Json:
    """Return the value of a JSON text or of a Python literal of lists, tables, numbers and words. Nothing is
    executed. Raises ValueError for anything else."""
    try:
        return read_json(text)
    except ValueError:
        import ast  # only for the older files

        if max(map(text.count, "[{(")) > MAX_LITERAL_BRACKETS or not _is_shallow(text):
            raise ValueError("it is nested too deeply") from None
        try:
            value = ast.literal_eval(text)
            return json.loads(json.dumps(value))
        except (SyntaxError, TypeError, MemoryError, RecursionError, ValueError):
            raise ValueError("it is neither JSON nor a literal") from None


MAX_LITERAL_BRACKETS = 2_000
MAX_LITERAL_DEPTH = 20


def _is_shallow(text: str) -> bool:
    """Return whether brackets, minus signs and tildes of a literal are nested at most `MAX_LITERAL_DEPTH`
    levels deep. Brackets in words count, too."""
    depth = signs = 0
    for letter in text:
        signs = signs + 1 if letter in "-~+" else 0 if letter not in " \t" else signs
        depth += (letter in "[{(") - (letter in "]})")
        if depth > MAX_LITERAL_DEPTH or signs > MAX_LITERAL_DEPTH:
            return False
    return True


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Facts about recorded trials that their file lacks. A reader tries out what is not given here."""

    preset: str = ""
    """A name in `TrialFormat.presets`."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Rules that are known, by name, as the user wrote them."""


@dataclass(frozen=True, slots=True)
class TrialRule:
    """A rule that tables of a form do not say, and that a user may name."""

    label: str
    help: str
    choices: Mapping[str, str] = field(default_factory=dict)
    """The possible values with their labels; empty: any text."""


@dataclass(frozen=True, slots=True)
class TrialLabels:
    """What a written trial says about itself and its players."""

    trial: str
    players: Sequence[str]
    """`p1`, or the kind of program, by seat."""
    people: Sequence[bool]


class TrialFormat(ABC):
    """A form in which games of one world are published: a table with a row for each step, and a JSON object
    of lists."""

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    presets: ClassVar[Mapping[str, str]]
    """Known collections with rules of their own: name → what they hold."""
    rules: ClassVar[Mapping[str, TrialRule]]
    """What `TrialOptions.given` may name."""
    key: ClassVar[str]
    """The column with the trial's name."""

    @abstractmethod
    def check(self, options: TrialOptions) -> None:
        """Raise SettingsError, which begins with the name of the preset or rule, for unknown ones."""

    @abstractmethod
    def rows(self, trial: RecordedTrial, labels: TrialLabels) -> Iterator[Sequence[Json]]:
        """Yield the rows of a game, by `columns`. The last row has the state after the last step."""

    @abstractmethod
    def episode(self, trial: RecordedTrial, labels: TrialLabels) -> dict[str, Json]:
        """Return the entry of a game in each list of the JSON object, by the list's name."""

    @abstractmethod
    def read_rows(self, rows: Sequence[Mapping[str, str]], options: TrialOptions) -> RecordedTrial:
        """Return the game in these rows, after every row was compared with the rules. Raises TrialError with
        the first difference."""

    @abstractmethod
    def read_episodes(
        self, content: Mapping[str, Json], options: TrialOptions
    ) -> Iterable[RecordedTrial | TrialError]:
        """Yield each game of a JSON object, or the reason why it is refused. Raises TrialError if the object
        has another form."""
