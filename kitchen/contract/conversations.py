"""Conversations of two, where everybody has at most one partner at a time (`pairwise`). Plain Python.

The rules are those of MINDcraft: whoever is talking with somebody is busy for all others, and nothing of what
these say is delivered. A conversation begins with the first word, and ends when one of the two ends it or
is gone, or neither has said anything for some steps. Like jobs, it is a fold over messages; nothing else is
stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kitchen.contract.organisation import END, SYSTEM, TALK, Organisation
from kitchen.contract.talk import Said, Say

BUSY, TALKING, CHOOSE_ONE = "busy", "talking", "choose_one"
"""Why nothing is sent: the addressee talks with another, the sender does, or not exactly one is named."""
GONE = "gone"
"""`code` of what the house says of a `member` who is replaced: their conversation is over."""


def partners(organisation: Organisation, messages: Iterable[Said], step: int) -> dict[int, int]:
    """Who talks with whom in this step, both ways."""
    talking: dict[int, int] = {}
    last: dict[frozenset[int], int] = {}
    for said in messages:
        if said.kind == SYSTEM and said.data.get("code") == GONE:
            _leave(talking, said.data["member"])
        if said.kind not in TALK or said.sender is None:
            continue
        _leave(talking, said.sender)
        if said.kind != END:
            _leave(talking, said.to[0])
            talking |= {said.sender: said.to[0], said.to[0]: said.sender}
            last[frozenset((said.sender, said.to[0]))] = said.step
    since = step - organisation.silence
    return {one: other for one, other in talking.items() if last[frozenset((one, other))] > since}


def _leave(talking: dict[int, int], member: int) -> None:
    other = talking.pop(member, None)
    if other is not None:
        talking.pop(other, None)


def to_partner(say: Say, sender: int, talking: Mapping[int, int]) -> Say:
    """The same to whom the sender talks with, if nobody is named."""
    return replace(say, to=(talking[sender],)) if not say.to and sender in talking else say


def keeps_apart(say: Say, sender: int, talking: Mapping[int, int]) -> str:
    """Why the sender may not say this now, empty if they may: `busy`, `talking` or `choose_one`;
    `not_allowed` to end what has not begun."""
    if len(set(say.to)) != 1:
        return "not_allowed" if say.kind == END else CHOOSE_ONE
    if talking.get(sender) == say.to[0]:
        return ""
    if say.kind == END:
        return "not_allowed"
    if sender in talking:
        return TALKING
    return BUSY if say.to[0] in talking else ""
