"""Does as it is told: for people who lead. It asks no model."""

from __future__ import annotations

from collections.abc import Collection

from kitchen.agents.following import follow
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import ANSWER, ASK, SAY
from kitchen.contract.talk import ONLY_JOBS, Say
from kitchen.contract.world import Setting
from kitchen.registry.agents import get_pursuer

TEXT = "I do not read messages. I do the jobs that are picked for me from the list."
"""Pages say it in the language of who reads."""


class Follower(Agent):
    """Pursues the jobs that it is given with an aim of the world, and does nothing without one."""

    kind = "follower"
    instant = True
    pursues = True
    settings = (
        Setting(
            "patience",
            "int",
            "Steps after which a job is given up",
            30,
            help="It says then that the job was not possible. 0: never.",
            minimum=0,
            maximum=1000,
        ),
    )

    def decide(self, situation: Situation) -> Decision:
        """The next command of each seat on the way to its aim. The memory has the jobs that are open, and who
        was `told` that it reads no messages: each person who writes to it, once."""
        pursuer, patience = get_pursuer(situation.world), self.chosen["patience"]
        made = follow(situation, pursuer, situation.memory, patience=patience)
        before = situation.memory.get("told", []) if situation.memory else []
        new = _wrote(situation, before)
        told = {"told": [*before, *new]} if before or new else {}
        answer = (Say(TEXT, ANSWER, new, {"code": ONLY_JOBS}),) if new else ()
        return Decision(made.commands, memory={**made.memory, **told}, says=(*made.says, *answer))


def _wrote(situation: Situation, told: Collection[int]) -> tuple[int, ...]:
    """People who have written to it and may be answered, but for those that were told."""
    organisation = situation.organisation
    if organisation is None:
        return ()
    people = {one.number for one in organisation.members if one.is_person} - set(told)
    said = [one for one in situation.messages if one.kind in {SAY, ASK} and one.number > situation.taken_over]
    wrote = {one.sender for one in said} & people & set(organisation.to(situation.member, ANSWER))
    return tuple(sorted(one for one in wrote if one is not None))
