"""What the others have finished, compared with what was foreseen of them, and how that is told to the model.

A prediction is judged when the seat that it is about next finishes a skill. A seat may finish in one step
what several predictions were about, and what is on the way to a skill says nothing of it
(`Skills.agrees`).
"""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.agents.proagent.memory import Memory
from kitchen.agents.proagent.options import REPLACE, Options
from kitchen.contract.foreseeing import Foreseen
from kitchen.contract.skills import Sight, Skills, spelled


def compare(memory: Memory, skills: Skills, sight: Sight, step: int) -> tuple[Memory, list[Foreseen]]:
    """The memory after what happened in this step (from 1), and what has turned out by it."""
    judged: list[Foreseen] = []
    for other in skills.seats(sight):
        if other == sight.seat:
            continue
        for done in skills.finished(sight, other):
            memory = memory.with_done(other, done, step, sight.seat)
            found = list(_judged(memory, skills, sight, memory.done[-1]))
            memory = memory.with_judged(found)
            judged += found
    return memory, judged


def compare_late(memory: Memory, skills: Skills, sight: Sight, late: Memory) -> tuple[Memory, list[Foreseen]]:
    """The memory with the thoughts of a decision that has come late, and what of these has turned out by what
    was finished while it was made."""
    memory, judged = memory.with_thoughts_of(late), []
    for done in memory.meanwhile:
        found = list(_judged(memory, skills, sight, done))
        memory = memory.with_judged(found)
        judged += found
    return memory, judged


def _judged(memory: Memory, skills: Skills, sight: Sight, what: Foreseen) -> Iterator[Foreseen]:
    """Of what is open that which was about `what`, a skill that a seat has finished."""
    for one in memory.open:
        if one.of == what.of and one.step <= what.step:
            right = skills.agrees(sight, one.said, what.done)
            if right is not None:
                yield one.judged(what.done, what.step, right=right)


def beliefs(memory: Memory, skills: Skills, options: Options) -> list[str]:
    """What the model is told of its own predictions; nothing where it is not to be."""
    if not options.corrects or not (memory.foreseen or memory.done):
        return []
    foreseen = [_believed(one, skills, options) for one in memory.foreseen]
    done = [f"- step {one.done_in}, {skills.named(one.of)}: {spelled(one.done)}" for one in memory.done]
    return [
        *(["What you foresaw:", *foreseen] if foreseen else []),
        *(["What was really done:", *done] if done else []),
    ]


def _believed(one: Foreseen, skills: Skills, options: Options) -> str:
    of = f"- step {one.step}, {skills.named(one.of)}:"
    if one.right is not False:
        return f"{of} {spelled(one.said)}"
    if options.belief == REPLACE:
        return f"{of} {spelled(one.done)}"
    return f"{of} {spelled(one.said)} (that was wrong: it did {spelled(one.done)} instead)"
