"""Copies of recorded episodes, many at once: new keys, new times, everything else as it was played."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from kitchen.machine.pieces import write_in_pieces
from kitchen.play.chain import chain_begin, chain_next
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    Prompt,
    Seat,
    SeatCommand,
    StateChange,
    Step,
    new_key,
)
from study.trying_out.synthetic.recordings import Recording, Row

QUICKEST = 0.4
"""Seconds that anybody takes for a step at least."""


@dataclass(slots=True)
class Copy:
    """One copy to be made: of what, from when on, by somebody of this pace (mean seconds a step)."""

    recording: Recording
    began: datetime
    pace: float
    rng: Random
    episode: Episode | None = None
    ends: list[datetime] | None = None
    """When each step was taken."""


def make_copies(copies: Sequence[Copy], *, audience: str, budget_id: int | None) -> None:
    """Write all of them, in pieces; each gets its `episode`.

    What is stopped in the middle leaves episodes in which nobody plays: `episodes_erase_left`
    (`study.trying_out.erasing`) erases them.
    """
    for copy in copies:
        copy.ends = _ends(copy)
        copy.episode = _episode(copy, audience, budget_id)
    write_in_pieces(Episode, [_made(copy) for copy in copies])
    _write_seats(copies)
    _write_steps(copies)


def copy_erase(copy: Copy) -> None:
    """Erase it again: nobody took it."""
    _made(copy).delete()


def _ends(copy: Copy) -> list[datetime]:
    """When each step ended, at this person's pace."""
    now, ends = copy.began, []
    for _ in copy.recording.steps:
        now += timedelta(seconds=max(QUICKEST, copy.rng.lognormvariate(0, 0.5) * copy.pace))
        ends.append(now)
    return ends


def _episode(copy: Copy, audience: str, budget_id: int | None) -> Episode:
    last = copy.ends[-1] if copy.ends else copy.began
    fresh: Row = {
        "key": uuid.uuid4(),
        "audience": audience,
        "budget_id": budget_id,
        "created_at": copy.began,
        "turn_opened_at": last,
        "ended_at": last,
    }
    return Episode(**{**copy.recording.episode, "id": None, **fresh})


def _write_seats(copies: Sequence[Copy]) -> None:
    """Minds with their decisions, then seats."""
    minds: dict[tuple[int, int], Mind] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.minds:
            minds[at, row["id"]] = Mind(**{**row, "id": None, "episode_id": _pk(copy)})
    write_in_pieces(Mind, minds.values())
    write_in_pieces(
        Seat,
        (
            _seat(row, copy, minds.get((at, row["mind_id"])))
            for at, copy in enumerate(copies)
            for row in copy.recording.seats
        ),
    )
    _write_decisions(copies, minds)


def _seat(row: Row, copy: Copy, mind: Mind | None) -> Seat:
    return Seat(**{**row, "id": None, "key": new_key(), "episode_id": _pk(copy), "mind_id": mind and mind.pk})


def _write_decisions(copies: Sequence[Copy], minds: dict[tuple[int, int], Mind]) -> None:
    decisions: dict[tuple[int, int], Decision] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.decisions:
            fresh = {"mind_id": minds[at, row["mind_id"]].pk, "decided_at": _end(copy, row["step"])}
            decisions[at, row["id"]] = Decision(**{**row, "id": None, **fresh})
    write_in_pieces(Decision, decisions.values())
    _write_said(copies, decisions)
    calls: dict[tuple[int, int], ModelCall] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.calls:
            calls[at, row["id"]] = ModelCall(
                **{**row, "id": None, "decision_id": decisions[at, row["decision_id"]].pk}
            )
    write_in_pieces(ModelCall, calls.values())
    write_in_pieces(
        CallMessage,
        (
            CallMessage(**{**row, "id": None, "call_id": calls[at, row["call_id"]].pk})
            for at, copy in enumerate(copies)
            for row in copy.recording.messages
        ),
    )


def _write_said(copies: Sequence[Copy], decisions: dict[tuple[int, int], Decision]) -> None:
    """What co-players said; nobody else says anything there."""
    write_in_pieces(
        Message,
        (
            Message(
                **{
                    **row,
                    "id": None,
                    "episode_id": _pk(copy),
                    "decision_id": decisions[at, row["decision_id"]].pk,
                    "sent_at": _end(copy, row["step"]),
                }
            )
            for at, copy in enumerate(copies)
            for row in copy.recording.said
        ),
    )


def write_prompts(recordings: Sequence[Recording]) -> None:
    """The texts that recorded models were sent, once for all copies."""
    texts = {hashed: text for one in recordings for hashed, text in one.prompts.items()}
    Prompt.objects.bulk_create(
        [Prompt(hash=hashed, text=texts[hashed]) for hashed in sorted(texts)], ignore_conflicts=True
    )


def _write_steps(copies: Sequence[Copy]) -> None:
    write_in_pieces(
        SeatCommand,
        (
            SeatCommand(
                **{**row, "id": None, "episode_id": _pk(copy), "received_at": _end(copy, row["step"])}
            )
            for copy in copies
            for row in copy.recording.commands
        ),
    )
    write_in_pieces(Step, (step for copy in copies for step in _steps(copy)))
    for copy in copies:  # a whole part may be a megabyte: not those of many copies in one transaction
        changes = copy.recording.state_changes
        write_in_pieces(
            StateChange, (StateChange(**{**row, "id": None, "episode_id": _pk(copy)}) for row in changes)
        )


def _steps(copy: Copy) -> Iterator[Step]:
    """The steps with a chain of their own: its times are new."""
    chain = chain_begin(_made(copy))
    for row in copy.recording.steps:
        fresh = _step(copy, row)
        chain = chain_next(chain, fresh)
        yield Step(**fresh, chain=chain)


def _step(copy: Copy, row: Row) -> Row:
    opened = copy.began if row["number"] == 1 else _end(copy, row["number"] - 1)
    taken = _end(copy, row["number"])
    received = taken.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    commands = [{**given, "received_at": received} for given in row["commands"]]
    fresh = {"episode_id": _pk(copy), "opened_at": opened, "taken_at": taken, "commands": commands}
    kept = {name: value for name, value in row.items() if name not in {"id", "chain"}}
    return {**kept, **fresh}


def _end(copy: Copy, step: int) -> datetime:
    assert copy.ends is not None  # noqa: S101 - make_copies begins with it
    return copy.ends[min(step, len(copy.ends)) - 1]


def _pk(copy: Copy) -> Any:
    return _made(copy).pk


def _made(copy: Copy) -> Episode:
    assert copy.episode is not None  # noqa: S101 - make_copies begins with it
    return copy.episode
