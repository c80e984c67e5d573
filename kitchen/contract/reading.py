"""How the replies of a language model were read, as far as the note of a decision tells.

A co-player that reads commands out of replies writes into its note (`Decision.note`) under `faults` what was
wrong with what it followed, and under `mended` what was wrong with the first reply where it asked twice. A
fault has a `code` and a `command`: the command that was read and refused, or none. The codes of UNREAD say
that no command could be read, for one seat or, NO_COMMAND, for any of those that were asked for. Where fewer
commands were asked for than it has seats, the note has their number under `asked`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from kitchen.contract.world import Json
from kitchen.words.counting import counted, percent

NO_COMMAND, LEFT_OUT, UNCLEAR = "no_command", "left_out", "unclear"
UNREAD = (NO_COMMAND, LEFT_OUT, UNCLEAR)
"""Nothing at all, nothing for this seat, different things for it in several places."""

COLUMNS = (
    *("read_whole", "read_in_part", "read_not_at_all"),
    *("commands_asked", "commands_invalid_before", "commands_invalid"),
)
"""What files call the numbers of `Readings`."""

WARN_FROM = 0.05
"""The share of decisions that were not read whole, or of invalid commands, from which there is a warning."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One decision, in commands; one was asked for for each seat."""

    commands: int
    unread: int
    """For which none could be read, after a second try if there was one."""
    invalid_before: int
    """Read from the first reply, and refused by looking ahead: nobody can do that now, or ever."""
    invalid: int
    """The same after a second try if there was one."""

    @property
    def how(self) -> str:
        """`whole`, `part` where some of its commands were read, `none` where none was."""
        if not self.unread:
            return "whole"
        return "part" if self.unread < self.commands else "none"


def reading_of(note: Json, seats: int) -> Reading | None:
    """How the replies to one decision for so many seats were read; None for a note of nobody who reads."""
    if not isinstance(note, dict) or not isinstance(note.get("faults"), list):
        return None
    return reading_of_faults(note["faults"], note.get("mended") or (), note.get("asked") or seats)


def reading_of_faults(faults: Iterable[Json], mended: Iterable[Json], seats: int) -> Reading:
    """The same of what the note has under these two keys."""
    after, before = list(faults), list(mended)
    codes = [fault["code"] for fault in after]
    unread = seats if NO_COMMAND in codes else sum(code in UNREAD for code in codes)
    return Reading(seats, min(unread, seats), _refused(before or after), _refused(after))


def _refused(faults: Iterable[Json]) -> int:
    return sum(bool(fault["command"]) for fault in faults)


@dataclass(frozen=True, slots=True)
class Readings:
    """Many decisions: how many were read whole, in part or not at all, and their commands as in `Reading`."""

    whole: int = 0
    part: int = 0
    none: int = 0
    commands: int = 0
    invalid_before: int = 0
    invalid: int = 0

    @classmethod
    def of(cls, reading: Reading | None, times: int = 1) -> Self:
        """So many decisions that were read like this; none where nobody read."""
        if reading is None:
            return cls()
        return cls(
            whole=times * (reading.how == "whole"),
            part=times * (reading.how == "part"),
            none=times * (reading.how == "none"),
            commands=times * reading.commands,
            invalid_before=times * reading.invalid_before,
            invalid=times * reading.invalid,
        )

    def __add__(self, other: Readings) -> Self:
        return type(self)(
            self.whole + other.whole,
            self.part + other.part,
            self.none + other.none,
            self.commands + other.commands,
            self.invalid_before + other.invalid_before,
            self.invalid + other.invalid,
        )

    @property
    def columns(self) -> dict[str, int]:
        """For files: COLUMNS with their numbers."""
        numbers = (self.whole, self.part, self.none, self.commands, self.invalid_before, self.invalid)
        return dict(zip(COLUMNS, numbers, strict=True))

    @property
    def decisions(self) -> int:
        """Those that a reply was read for."""
        return self.whole + self.part + self.none

    @property
    def unread_share(self) -> float:
        """Of the decisions, those that were not read whole."""
        return (self.part + self.none) / self.decisions if self.decisions else 0.0

    @property
    def invalid_share(self) -> float:
        """Of the commands that were asked for, those that were read and refused in the end."""
        return self.invalid / self.commands if self.commands else 0.0

    @property
    def is_bad(self) -> bool:
        """What came of it says little about the model: see `warning`."""
        return max(self.unread_share, self.invalid_share) >= WARN_FROM

    @property
    def words(self) -> str:
        """`57 of 60 decisions read whole, 2 in part, 1 not at all; 6 of 180 commands invalid`, with what
        there was before a second try where that changed it; empty where nothing was read."""
        if not self.decisions:
            return ""
        read = f"{self.whole} of {counted(self.decisions, 'decision')} read whole"
        read += f", {self.part} in part, {self.none} not at all" if self.whole < self.decisions else ""
        before = (
            f" ({self.invalid_before} before a second try)" if self.invalid_before != self.invalid else ""
        )
        return f"{read}; {self.invalid} of {counted(self.commands, 'command')} invalid{before}"

    @property
    def warning(self) -> str:
        """A sentence on what was not read or could not be done; empty below WARN_FROM."""
        told = [f"{share} of the {of} {were}" for share, of, were in self._told()]
        return f"{' and '.join(told)}: these agents waited, though nobody chose that." if told else ""

    @property
    def short(self) -> str:
        """For a figure: the shares that there is a warning about; empty below WARN_FROM."""
        return ", ".join(f"{share} of {of} {were.partition(' ')[2]}" for share, of, were in self._told())

    def _told(self) -> list[tuple[str, str, str]]:
        """Each share that is too great, of what it is, and what is wrong with those."""
        shares = [
            (self.unread_share, "decisions", "were not read whole"),
            (self.invalid_share, "commands", "were invalid"),
        ]
        return [(percent(share), of, were) for share, of, were in shares if share >= WARN_FROM]
