"""Two minds that talk within a step (`Organisation.talks_within`), as Collab-Overcooked has it: the opener,
the other, the opener … until the opener says nothing, ends it or repeats itself, the other has nothing to
answer, or each has spoken as often as the organisation lets it. What each decided last is followed.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from kitchen.contract.agent import Decision, Situation, note_plus
from kitchen.contract.blocking import filtered
from kitchen.contract.model import Call
from kitchen.contract.organisation import END, Organisation
from kitchen.contract.talk import Said, Say, addressees, refusal
from kitchen.contract.world import Json

ROUND = "round"
"""Under which a message's data have in which round of the talk it was said; the first is 1."""
TALK = "talk"
"""Under which a note has those of what was decided before."""

Turns = Generator[tuple[int, Situation, int], Decision, list[Decision]]
"""Who is asked next, as 0 or 1, what it is told, and how many may be to come, itself among them; to be sent
what it decided."""


@dataclass(slots=True)
class Exchange:
    """The talk of two minds in one step."""

    told: list[Situation]
    """What each is told; at the end, when it was asked last."""
    organisation: Organisation
    made: tuple[list[Decision], list[Decision]] = field(default_factory=lambda: ([], []))
    said: list[Said] = field(default_factory=list)

    @classmethod
    def of(cls, told: Sequence[Situation]) -> Self | None:
        """That of these minds; None where they do not talk so."""
        organisation = told[0].organisation if len(told) == 2 else None
        talk = organisation is not None and organisation.talks_within
        return cls(list(told), organisation) if organisation and talk else None

    def turns(self) -> Turns:
        """All of it; returns what comes of it for each."""
        before: tuple[str, ...] = ()
        for number in range(1, self.organisation.rounds + 1):
            words = self._take(0, (yield self._asked(0)), number)
            if not words or words == before:
                break
            before = words
            if not self._take(1, (yield self._asked(1)), number):
                break
        if not self.made[1]:
            self._take(1, (yield self._asked(1)), 1)
        return [_merged(decisions) for decisions in self.made]

    def _asked(self, place: int) -> tuple[int, Situation, int]:
        now, made = self.told[place], self.made[place]
        known = {one.number for one in now.messages}
        heard = (
            replace(one, is_new=one.sender != now.member) for one in self.said if one.number not in known
        )
        memory = made[-1].memory if made else now.memory
        self.told[place] = replace(now, messages=(*now.messages, *heard), memory=memory)
        left = 2 * self.organisation.rounds - sum(map(len, self.made))
        return place, self.told[place], max(left, 1)

    def _take(self, place: int, decision: Decision, number: int) -> tuple[str, ...]:
        """What was decided, and the words of it that go to the other; none once it is ended."""
        says = tuple(replace(say, data={**say.data, ROUND: number}) for say in decision.says)
        self.made[place].append(replace(decision, says=says))
        for say in says:
            self._say(self.told[place].member, say)
        return () if any(say.kind == END for say in says) else tuple(say.text for say in says)

    def _say(self, member: int, say: Say) -> None:
        """The other hears it, if it may be said."""
        sent = sum(one.sender == member for one in self.said)
        if refusal(self.organisation, member, say, sent=sent):
            return
        before = [one.messages[-1].number for one in self.told if one.messages]
        number = max([*before, *(one.number for one in self.said)], default=0) + 1
        to, text = addressees(self.organisation, member, say), filtered(say.text, self.organisation.blocked)
        step = self.told[0].step + 1
        self.said.append(Said(number, step, member, to, say.kind, text.strip(), say.data))


def _merged(decisions: list[Decision]) -> Decision:
    """What was decided last, with all that was said and paid on the way there."""
    calls: tuple[Call, ...] = tuple(call for each in decisions for call in each.calls)
    says = tuple(say for each in decisions for say in each.says)
    earlier: list[Json] = [each.note for each in decisions[:-1]]
    note = note_plus(decisions[-1].note, TALK, earlier) if earlier else decisions[-1].note
    return replace(decisions[-1], calls=calls, says=says, note=note)
