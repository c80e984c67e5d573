"""How ProAgent carries a skill out: its dialogue is told what came of it, and people what it expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kitchen.agents.proagent.comparing import compare_late
from kitchen.agents.proagent.memory import Memory
from kitchen.agents.proagent.options import Options
from kitchen.agents.skilled.carrying_out import Carrying
from kitchen.agents.skilled.plan import Plan
from kitchen.agents.skilled.telling import succeeded
from kitchen.contract.foreseeing import Foreseen
from kitchen.contract.skills import Sight, Skills
from kitchen.contract.world import Intent, Json


class Thinking(Carrying[Memory]):
    """One seat in one step, with what it thinks."""

    def __init__(self, skills: Skills, sight: Sight, options: Options, step: int, memory: Memory) -> None:
        super().__init__(skills, sight, options, step, memory)
        self.judged: list[Foreseen] = []
        """What has turned out of what comes late."""
        if self.did:
            said = succeeded(skills.named(sight.seat), self.did)
            self.memory = self.memory.said("user", said, options.memory)

    def take(self, plan: Plan) -> None:
        """It waits for none any more."""
        self.memory = replace(self.memory, meanwhile=())
        super().take(plan)

    def take_late(self, other: Memory) -> None:
        """With what it said and foresaw then, and what has come of that."""
        self.memory, self.judged = compare_late(self.memory, self.skills, self.sight, other)
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
