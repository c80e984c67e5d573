"""What members of an episode write to one another. Plain Python.

The text of a message is data: it is shown as text, told to minds as what somebody said, and never an
instruction to the house. What may be sent follows from the organisation alone (`refusal`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kitchen.contract.organisation import END, KINDS_OF_MESSAGES, SAY, Organisation
from kitchen.contract.world import Json

LONGEST_OF_PEOPLE = 500
"""Characters of what a person writes."""
LONGEST_OF_MINDS = 2000
"""Characters of what a mind writes."""


ONLY_JOBS = "only_jobs"
"""The `code` of an answer that says: whoever was written to reads no messages, and does jobs with an aim."""


@dataclass(frozen=True, slots=True)
class Say:
    """A message that somebody wants to send."""

    text: str
    kind: str = SAY
    """One of `kitchen.contract.organisation.KINDS_OF_MESSAGES`."""
    to: tuple[int, ...] = ()
    """Members, by number; nobody named: all who may be sent such a message."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """JSON that belongs to the kind: `job` is the number of the message that gave it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message that was sent, as a member who sent or heard it knows it."""

    number: int
    """In the episode; the first is 1."""
    step: int
    """The step that was open; the first is 1."""
    sender: int | None
    """A member; None for the house."""
    to: tuple[int, ...]
    """Every addressee."""
    kind: str
    text: str
    data: Mapping[str, Json] = field(default_factory=dict)
    is_new: bool = False
    """It came after what this mind knew when it decided last."""


def refusal(organisation: Organisation, sender: int, say: Say, *, sent: int) -> str:
    """Why this member may not send this, empty if it may: `not_allowed`, `empty`, `too_long`, or `too_many`,
    where it has `sent` so many messages in this step."""
    if sender not in organisation.numbers or say.kind not in KINDS_OF_MESSAGES:
        return "not_allowed"
    if not addressees(organisation, sender, say):
        return "not_allowed"
    if not (say.text.strip() or say.data or say.kind == END):
        return "empty"
    if len(say.text) > longest(organisation, sender):
        return "too_long"
    return "too_many" if sent >= organisation.messages_a_step else ""


def addressees(organisation: Organisation, sender: int, say: Say) -> tuple[int, ...]:
    """Who is sent this; nobody if one of those who are named may not be."""
    may = organisation.to(sender, say.kind)
    return tuple(sorted(set(say.to or may))) if set(say.to) <= set(may) else ()


def longest(organisation: Organisation, sender: int) -> int:
    """How many characters this member may write at once."""
    return LONGEST_OF_PEOPLE if organisation.member(sender).is_person else LONGEST_OF_MINDS
