"""Asking for the skills of several seats in one call: read, verify, ask again for those that cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.agents.skill_dispatcher import prompt
from kitchen.agents.skill_dispatcher.door import planning
from kitchen.agents.skill_dispatcher.options import Options
from kitchen.agents.skill_dispatcher.prompt import Sights
from kitchen.agents.skilled.door import Door, MadeStandIn
from kitchen.agents.skilled.plan import failed, long_enough
from kitchen.agents.skilled.telling import refused
from kitchen.agents.skilled.wording import before_next_scene, labelled, read
from kitchen.contract.model import Message
from kitchen.contract.reading import LEFT_OUT, NO_COMMAND
from kitchen.contract.skills import Condition, Skill, Skills, spelled, wait
from kitchen.contract.world import Json

SILENCE = "(no words)"
"""Stands for an empty answer in the dialogue: providers refuse empty messages."""
LONGEST = 4000
"""Characters of one answer that is sent again."""


@dataclass(frozen=True, slots=True)
class Try:
    """What one reply planned for one seat. `skill` is None where none was read."""

    skill: Skill | None
    failed: tuple[Condition, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it can be begun."""
        return self.skill is not None and not self.failed

    def why(self, name: str) -> str:
        """Why it does not count, for the model."""
        if self.skill is None:
            return f"No skill could be read for {name}."
        return refused(name, self.skill, self.failed)

    def to_json(self) -> dict[str, Json]:
        """For the decision's note."""
        skill = spelled(self.skill) if self.skill else None
        return {
            "skill": skill,
            "read": self.skill is not None,
            "failed": [one.code for one in self.failed],
        }

    def fault(self, seat: int, unread: str) -> Json:
        """What was wrong with it, as files count it (`kitchen.contract.reading`); `unread` is the code where
        nothing was read."""
        if self.skill is None:
            return {"code": unread, "seat": seat, "command": [], "text": "No skill could be read."}
        codes = " ".join(one.code for one in self.failed)
        return {"code": codes, "seat": seat, "command": list(self.skill), "text": self.failed[0].why_not}


@dataclass(slots=True)
class Planned:
    """What came of asking, by seat."""

    seats: Sequence[int]
    """For which was asked."""
    tries: dict[int, list[Try]]
    skills: dict[int, Skill] = field(default_factory=dict)
    """Seats without an answer are left out."""
    error: str = ""
    """The code of the call that had no answer."""

    @property
    def open(self) -> list[int]:
        """Seats that have no skill that can be done."""
        return [seat for seat in self.seats if seat not in self.skills]

    def faults(self, place: int) -> list[Json]:
        """What was wrong with the first reply (0) or the last ones (-1)."""
        tried = {seat: tries[place] for seat, tries in self.tries.items() if tries}
        unread = [seat for seat, one in tried.items() if one.skill is None]
        code = NO_COMMAND if len(unread) == len(self.seats) else LEFT_OUT
        return [one.fault(seat, code) for seat, one in tried.items() if not one.holds]

    @property
    def mended(self) -> list[Json]:
        """What was wrong with the first reply where it was asked again."""
        return self.faults(0) if any(len(tries) > 1 for tries in self.tries.values()) else []


class Asking:
    """One step in which some seats need a skill."""

    def __init__(self, skills: Skills, sights: Sights, options: Options, door: Door) -> None:
        self.skills, self.sights, self.options, self.door = skills, sights, options, door
        self.manner = options.manner(skills.manner(next(iter(sights.values()))))

    def plan(self, seats: Sequence[int], question: str, remembered: Sequence[Message]) -> Planned:
        """Until each of these seats has a skill that can be begun; who has none after the last try waits."""
        made = Planned(seats, {seat: [] for seat in seats})
        fixed = Message("system", prompt.fixed_part(self.skills, self.sights, self.options), fixed=True)
        messages = [fixed, *remembered, Message("user", question)]
        for _ in range(1 + self.options.again):
            call = self.door.ask(messages, self._stand_in(made.open))
            if call.reply is None:
                made.error = call.error
                return made
            text = before_next_scene(call.reply.text).strip() or SILENCE
            whys = self._take(made, self._read(text, made.open))
            if not whys:
                return made
            again = prompt.again_part(self.skills, whys)
            messages += [Message("assistant", text[:LONGEST]), Message("user", again)]
        made.skills |= {seat: wait() for seat in made.open}
        return made

    def _stand_in(self, seats: Sequence[int]) -> MadeStandIn:
        return planning(self.door, self.skills, self.sights, seats, self.manner, self.options.analysis)

    def _read(self, text: str, seats: Sequence[int]) -> Mapping[int, Skill | None]:
        """By seat. An answer about one seat needs no name."""
        first = self.sights[seats[0]]
        if len(seats) == 1:
            return {seats[0]: read(text, self.skills, first).plan}
        found = labelled(text, self.skills, first)
        return {seat: found.get(seat) for seat in seats}

    def _take(self, made: Planned, found: Mapping[int, Skill | None]) -> dict[int, str]:
        """Keep what can be begun; by seat why the rest cannot."""
        whys = {}
        for seat, skill in found.items():
            one = self._verified(seat, skill)
            made.tries[seat].append(one)
            if one.holds and one.skill:
                made.skills[seat] = one.skill
            else:
                whys[seat] = one.why(self.skills.named(seat))
        return whys

    def _verified(self, seat: int, skill: Skill | None) -> Try:
        if skill is None:
            return Try(None)
        planned = long_enough(self.skills, self.sights[seat], skill)
        return Try(planned, failed(self.skills, self.sights[seat], planned))
