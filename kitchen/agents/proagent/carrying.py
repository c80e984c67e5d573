"""How ProAgent carries a skill out: its dialogue is told what came of it, and people what it expects."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.agents.proagent.memory import Memory
from kitchen.agents.proagent.options import Options
from kitchen.agents.proagent.prompt import succeeded
from kitchen.agents.skilled.carrying_out import Carrying
from kitchen.agents.skilled.wording import waits
from kitchen.contract.skills import Sight, Skills
from kitchen.contract.world import SUCCESS, Intent, Json


class Thinking(Carrying[Memory]):
    """One seat in one step, with what it thinks."""

    def __init__(self, skills: Skills, sight: Sight, options: Options, step: int, memory: Memory) -> None:
        plan = memory.plan
        super().__init__(skills, sight, options, step, memory)
        if plan and self.ended and self.ended["status"] == SUCCESS and not waits(plan.skill):
            said = succeeded(skills.named(sight.seat), plan.skill)
            self.memory = self.memory.said("user", said, options.memory)

    def take_late(self, other: Memory) -> None:
        """With what it said and foresaw then."""
        self.memory = self.memory.with_thoughts_of(other)
        super().take_late(other)

    def intent_for(self, people: Sequence[int]) -> Intent:
        """What it is at, for people; and what it last foresaw of one of these, which has not turned out."""
        at = dict(self.intent())
        foreseen = next((one for one in reversed(self.memory.open) if one.of in people), None)
        if foreseen is None:
            return at
        told = self.skills.intent(foreseen.said)
        what = told.get("item") or told.get("to") or ""
        return {**at, "of": str(foreseen.of), "foresees": told.get("do", ""), "what": what}

    def note(self) -> dict[str, Json]:
        """And how often it foresaw rightly."""
        foresight = self.memory.foresight
        told = {"right": foresight.right, "judged": foresight.judged} if foresight.judged else {}
        return {**super().note(), **told}
