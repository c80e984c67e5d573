"""Read decision notes, which are JSON objects that agents add to their decisions for the log.

A note can contain:

- predictions of other players' actions (`PREDICTED_KEY`),
- judgements of earlier predictions (`JUDGED_KEY`),
- faults found in a model's reply. Each has a code and the refused command, if any.

The codes in `UNREAD_CODES` mean that no command could be read from the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Self

from kitchen.contract.world import Json
from kitchen.words.english_text import counted_noun, percent_text

NO_COMMAND, LEFT_OUT, UNCLEAR = "no_command", "left_out", "unclear"
UNREAD_CODES = (NO_COMMAND, LEFT_OUT, UNCLEAR)
"""Codes of faults: no command at all, none for this seat, or contradicting ones for it."""

READING_COLUMNS = (
    *("read_whole", "read_in_part", "read_not_at_all"),
    *("commands_asked", "commands_invalid_before", "commands_invalid"),
)
"""Column names of the numbers in `ReplyReadings`."""

WARN_SHARE = 0.05
"""The share of incompletely read decisions, or of invalid commands, from which a warning is shown."""


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """Counts for one decision of how well the model's replies could be read: requested, unread and refused
    commands."""

    commands: int
    unread: int
    """Commands that could not be read, after the second try if there was one."""
    invalid_before: int
    """Commands of the first reply that were read and refused: nobody can do them now, or ever."""
    invalid: int
    """The same after the second try, if there was one."""

    @property
    def how(self) -> str:
        """Return `whole` if all commands were read, `part` if some were, `none` if none was."""
        if not self.unread:
            return "whole"
        return "part" if self.unread < self.commands else "none"


def reading_from_note(note: Json, seats: int) -> ReplyReading | None:
    """Return a measure of how well a model's replies could be parsed, from the decision's note. None if the
    note does not have it. `seats` is the number of the agent's seats."""
    if not isinstance(note, dict) or not isinstance(note.get("faults"), list):
        return None
    return reading_from_faults(note["faults"], note.get("mended") or (), note.get("asked") or seats)


def reading_from_faults(faults: Iterable[Json], mended: Iterable[Json], seats: int) -> ReplyReading:
    """Return how well a model's replies could be parsed. `faults` and `mended` are lists in a decision's
    note. `seats` is the number of requested commands."""
    after, before = list(faults), list(mended)
    codes = [fault["code"] for fault in after]
    unread = seats if NO_COMMAND in codes else sum(code in UNREAD_CODES for code in codes)
    return ReplyReading(seats, min(unread, seats), _refused(before or after), _refused(after))


def _refused(faults: Iterable[Json]) -> int:
    return sum(bool(fault["command"]) for fault in faults)


@dataclass(frozen=True, slots=True)
class ReplyReadings:
    """Counts over many decisions: the numbers of decisions whose replies were read whole, in part or not
    at all, and the number of refused commands."""

    whole: int = 0
    part: int = 0
    none: int = 0
    commands: int = 0
    invalid_before: int = 0
    invalid: int = 0

    @classmethod
    def of(cls, reading: ReplyReading | None, times: int = 1) -> Self:
        """Return the counts for `times` decisions that have this reading. All are zero if `reading` is
        None."""
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

    def __add__(self, other: ReplyReadings) -> Self:
        return type(self)(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def columns(self) -> dict[str, int]:
        """Return the counts by column name (READING_COLUMNS), for exported files."""
        return dict(zip(READING_COLUMNS, astuple(self), strict=True))

    @property
    def decisions(self) -> int:
        """Return the number of decisions for which a reply was read."""
        return self.whole + self.part + self.none

    @property
    def unread_share(self) -> float:
        """Return the share (0 to 1) of decisions whose replies could be parsed only in part or not at all."""
        return (self.part + self.none) / self.decisions if self.decisions else 0.0

    @property
    def invalid_share(self) -> float:
        """Return the share of requested commands that were parsed but refused in the end, from 0 to 1."""
        return self.invalid / self.commands if self.commands else 0.0

    @property
    def is_bad(self) -> bool:
        """Return True if so many replies failed that the results say little about the model. `warning` then
        has a text for researchers."""
        return max(self.unread_share, self.invalid_share) >= WARN_SHARE

    @property
    def words(self) -> str:
        """Return the counts as a text: `57 of 60 decisions read whole, 2 in part, 1 not at all; 6 of 180
        commands invalid`. Empty if nothing was read.

        If a second try changed a count, the text also has the count before it.
        """
        if not self.decisions:
            return ""
        read = f"{self.whole} of {counted_noun(self.decisions, 'decision')} read whole"
        read += f", {self.part} in part, {self.none} not at all" if self.whole < self.decisions else ""
        before = (
            f" ({self.invalid_before} before a second try)" if self.invalid_before != self.invalid else ""
        )
        return f"{read}; {self.invalid} of {counted_noun(self.commands, 'command')} invalid{before}"

    @property
    def warning(self) -> str:
        """Return a warning about too many unreadable replies or invalid commands. Empty if both shares are
        below WARN_SHARE."""
        entries = [f"{share} of the {of} {were}" for share, of, were in self._high_shares()]
        return f"{' and '.join(entries)}: these agents waited, though nobody chose that." if entries else ""

    @property
    def short(self) -> str:
        """Return the shares that are too high, as a short text for a chart; empty if both are below
        WARN_SHARE."""
        return ", ".join(
            f"{share} of {of} {were.partition(' ')[2]}" for share, of, were in self._high_shares()
        )

    def _high_shares(self) -> list[tuple[str, str, str]]:
        """Return (share, base, problem) for each share of unusable replies that is too high. All three are
        texts: the share, what it is a share of, and a description."""
        shares = [
            (self.unread_share, "decisions", "were not read whole"),
            (self.invalid_share, "commands", "were invalid"),
        ]
        return [(percent_text(share), of, were) for share, of, were in shares if share >= WARN_SHARE]


PREDICTED_KEY, JUDGED_KEY = "foreseen", "judged"

PredictedAction = tuple[str, ...]
"""A predicted action, in the codes of the world."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of another player's next action, with its outcome if known. The agent in seat `by` made
    it about seat `of` in step `step` (from 1)."""

    by: int
    of: int
    step: int
    predicted: PredictedAction
    done: PredictedAction = ()
    """The action that the seat finished next; empty if it finished none."""
    done_in: int | None = None
    """The step in which it finished that action."""
    right: bool | None = None
    """True if the prediction was right; None if this is unknown."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the prediction that `to_json` wrote."""
        values = {**stored, "done": tuple(stored["done"])}
        return cls(predicted=tuple(values.pop("said")), **values)

    def to_json(self) -> dict[str, Json]:
        """Return the prediction as JSON, for a note or a memory."""
        return {
            "by": self.by,
            "of": self.of,
            "step": self.step,
            "said": list(self.predicted),
            "done": list(self.done),
            "done_in": self.done_in,
            "right": self.right,
        }

    def judged(self, done: PredictedAction, step: int, *, right: bool) -> Self:
        """Return the prediction with its outcome. `done` is what the seat did, and `step` the step in which
        it finished. `right` says whether the prediction was right."""
        return replace(self, done=done, done_in=step, right=right)


def predictions_in(notes: Iterable[Json]) -> list[Prediction]:
    """Return all predictions in the notes of one agent, sorted by step. Each prediction is returned once,
    with its outcome if one of the notes has it."""
    found: dict[tuple[int, int, int], Prediction] = {}
    for note in notes:
        if isinstance(note, dict):
            entries = [*note.get(PREDICTED_KEY, ()), *note.get(JUDGED_KEY, ())]
            found |= {(one.step, one.by, one.of): one for one in map(Prediction.read, entries)}
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True, slots=True)
class PredictionAccuracy:
    """The number of predictions with a known outcome (`judged`), and the number of right ones."""

    right: int = 0
    judged: int = 0

    @classmethod
    def of(cls, foreseen: Iterable[Prediction]) -> Self:
        """Return the counts for these predictions. Predictions without an outcome are left out."""
        judged = [one.right for one in foreseen if one.right is not None]
        return cls(sum(judged), len(judged))

    @property
    def share(self) -> float | None:
        """Return the share of right predictions, from 0 to 1; None if no prediction was judged."""
        return self.right / self.judged if self.judged else None
