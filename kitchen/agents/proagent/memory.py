"""What ProAgent carries from step to step in one seat, as JSON: its skill, the dialogue, what it foresaw.

It does not grow: the dialogue keeps as many messages as may be sent again, beliefs the newest of each seat,
and of what was done while it waits for a plan the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from kitchen.agents.skilled.plan import Held, Plan
from kitchen.contract.foreseeing import Foreseen, Foresight
from kitchen.contract.model import Message, Role
from kitchen.contract.skills import Skill
from kitchen.contract.world import Json

LONGEST = 4000
"""Characters of one remembered message."""
MOST_BELIEFS = 10
"""Of what was foreseen, and of what was done: the newest."""
EARLIER = "Earlier in this game:"
"""Stands before what is remembered where that begins with an answer: conversations begin with a question."""

Line = tuple[str, str]
"""Who said it (`user` or `assistant`), and what."""


@dataclass(frozen=True, slots=True)
class Memory(Held):
    """Of one seat."""

    dialogue: tuple[Line, ...] = ()
    foreseen: tuple[Foreseen, ...] = ()
    """What has not turned out yet, and the newest of what has."""
    done: tuple[Foreseen, ...] = ()
    """The newest of what the others finished: only `of`, `done` and `done_in` say something."""
    meanwhile: tuple[Foreseen, ...] = ()
    """Likewise the first that each finished since there has been no plan: what an answer that comes late
    foresaw is compared with."""
    right: int = 0
    judged: int = 0

    @classmethod
    def read(cls, stored: Json) -> Self:
        """What `to_json` wrote; an empty one for anything else."""
        if not isinstance(stored, dict):
            return cls()
        return cls(
            plan=Plan.read(stored["plan"]),
            coming=Plan.read(stored["coming"]),
            dialogue=tuple((who, text) for who, text in stored["dialogue"]),
            foreseen=tuple(map(Foreseen.read, stored["foreseen"])),
            done=tuple(map(Foreseen.read, stored["done"])),
            meanwhile=tuple(map(Foreseen.read, stored.get("meanwhile", ()))),
            right=stored["right"],
            judged=stored["judged"],
        )

    def to_json(self) -> dict[str, Json]:
        """As it is stored."""
        return {
            **Held.to_json(self),
            "dialogue": [list(line) for line in self.dialogue],
            "foreseen": [one.to_json() for one in self.foreseen],
            "done": [one.to_json() for one in self.done],
            "meanwhile": [one.to_json() for one in self.meanwhile],
            "right": self.right,
            "judged": self.judged,
        }

    def with_thoughts_of(self, other: Self) -> Self:
        """With the dialogue of another memory of the same seat, and what only that one foresaw."""
        known = {_key(one) for one in self.foreseen}
        more = [one for one in other.open if _key(one) not in known]
        return replace(self.foreseeing(more), dialogue=other.dialogue)

    @property
    def open(self) -> list[Foreseen]:
        """What has not turned out yet."""
        return [one for one in self.foreseen if one.right is None]

    @property
    def foresight(self) -> Foresight:
        """Of the whole episode so far."""
        return Foresight(self.right, self.judged)

    def said(self, who: Role, text: str, most: int) -> Self:
        """With one more message of the dialogue, of which the last so many are kept."""
        dialogue = (*self.dialogue, (who, text[:LONGEST]))
        return replace(self, dialogue=dialogue[-most:] if most else ())

    def messages(self) -> list[Message]:
        """The dialogue as it is sent again."""
        sent = [Message("assistant" if who == "assistant" else "user", text) for who, text in self.dialogue]
        return [Message("user", EARLIER), *sent] if sent and sent[0].role == "assistant" else sent

    def foreseeing(self, found: Sequence[Foreseen]) -> Self:
        """With more that was foreseen. Of the same seat only the newest of one step counts."""
        kept = [one for one in self.foreseen if all(_key(one) != _key(new) for new in found)]
        return replace(self, foreseen=_newest([*kept, *found]))

    def with_judged(self, judged: Sequence[Foreseen]) -> Self:
        """With what has turned out in the place of what had not."""
        by_key = {_key(one): one for one in judged}
        foreseen = tuple(by_key.get(_key(one), one) for one in self.foreseen)
        right = self.right + sum(bool(one.right) for one in judged)
        return replace(self, foreseen=foreseen, right=right, judged=self.judged + len(judged))

    def with_done(self, of: int, done: Skill, step: int, by: int) -> Self:
        """With what another seat has finished in this step."""
        found = Foreseen(by, of, step, done, done, step, None)
        waits = self.newest is None and sum(one.of == of for one in self.meanwhile) < MOST_BELIEFS
        meanwhile = (*self.meanwhile, found) if waits else self.meanwhile
        return replace(self, done=_newest([*self.done, found]), meanwhile=meanwhile)


def _key(one: Foreseen) -> tuple[int, int, int]:
    return one.step, one.by, one.of


def _newest(found: Sequence[Foreseen]) -> tuple[Foreseen, ...]:
    return tuple(found[-MOST_BELIEFS:])
