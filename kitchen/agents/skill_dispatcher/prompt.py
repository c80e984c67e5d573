"""Write the language-model prompts of the agent `SkillDispatcher`, which plans for all its players.

They are the system message, the state of the world, and the request to plan again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kitchen.agents.skill_agents.base_agent import failed_conditions
from kitchen.agents.skill_agents.skill_text import plan_line, skill_lines, titled_parts
from kitchen.agents.skill_dispatcher.settings import SkillDispatcherOptions
from kitchen.contract.agent_skills import (
    GameDescription,
    SeatObservation,
    Skill,
    Skills,
    WorkedExample,
    spell_skill,
)
from kitchen.contract.world import Command
from kitchen.words.english_text import and_list

SeatObservations = Mapping[int, SeatObservation]
"""The observations of all seats that the agent commands, by seat."""


def fixed_part(skills: Skills, sights: SeatObservations, options: SkillDispatcherOptions) -> str:
    """Return the part of the prompt that is the same at every step of an episode. A provider can cache it."""
    first = next(iter(sights.values()))
    manner = options.manner(skills.manner(first))
    primers = [skills.primer(sight, manner) for sight in sights.values()]
    known = dict(told for primer in primers for told in primer.skills)
    remarks = dict.fromkeys(line for primer in primers for line in primer.remarks)
    examples = primers[0].examples[: options.examples]
    return titled_parts(
        [
            ("Your part", list(_role(primers[0], skills, sights))),
            ("Rules", primers[0].rules if options.rules else ()),
            ("How things are made", primers[0].making if options.making else ()),
            ("Skills", list(skill_lines(known.items(), manner))),
            ("Here", [f"- {line}" for line in remarks] if options.remarks else ()),
            ("Your answer", list(_form(options))),
            ("Examples", [line for one in examples for line in _example(one, skills, first, sights)]),
        ]
    )


def seat_names(skills: Skills, seats: Sequence[int]) -> str:
    """Return the names of the seats: `Player 0 and Player 1`."""
    return and_list([skills.named(seat) for seat in seats])


def _role(primer: GameDescription, skills: Skills, sights: SeatObservations) -> Iterator[str]:
    mine = list(sights)
    others = [seat for seat in skills.seats(next(iter(sights.values()))) if seat not in mine]
    yield f"{primer.game} You direct {seat_names(skills, mine)}: you see all, and they do what you plan."
    if others:
        yield f"You do not direct {seat_names(skills, others)}, and cannot talk to them."
    if len(mine) > 1:
        yield "Share the work out, so that no two do the same thing where one is enough."


def _form(options: SkillDispatcherOptions) -> Iterator[str]:
    yield "You are told who needs a skill. Answer in this form, with nothing after it:"
    if options.analysis:
        yield "Analysis: what matters in this scene, in at most three sentences."
    yield "Plan for NAME: the one skill. A line like this for each of those whom you are asked for."


def _example(
    one: WorkedExample, skills: Skills, first: SeatObservation, sights: SeatObservations
) -> Iterator[str]:
    """Yield the lines of an example with two players, without players whom this agent does not command."""
    other = next((seat for seat in skills.seats(first) if seat != first.seat), None)
    yield one.scene
    yield plan_line(skills.named(first.seat), one.plan)
    if other is not None and other in sights:
        yield plan_line(skills.named(other), one.foresees)
    yield ""


def scene_part(skills: Skills, sights: SeatObservations, step: int, happened: Sequence[str]) -> str:
    """Return the state of the world in this step as text: what all seats see, without repeated lines. Steps
    are counted from 1.

    `happened` are lines about the results of the seats' skills.
    """
    seen = dict.fromkeys(line for sight in sights.values() for line in skills.scene(sight).splitlines())
    return "\n".join([f"Scene {step}", *seen, *happened])


def others_part(skills: Skills, sights: SeatObservations, commanded: Mapping[int, Command]) -> list[str]:
    """Return prompt lines with the commands that other seats are known to give in this step. Empty if none is
    known."""
    known = {seat: command for seat, command in commanded.items() if seat not in sights}
    return [
        f"{skills.named(seat)} does {spell_skill(command)} in this step." for seat, command in known.items()
    ]


def choices_part(skills: Skills, sights: SeatObservations, seats: Sequence[int]) -> Iterator[str]:
    """Yield one prompt line for each of these seats, with the skills that it can begin now."""
    for seat in seats:
        sight = sights[seat]
        possible = [
            each for each in skills.offered(sight, seat) if not failed_conditions(skills, sight, each)
        ]
        told = ", ".join(map(spell_skill, possible)) or "nothing but to wait"
        yield f"{skills.named(seat)} can begin: {told}."


def request_line(skills: Skills, seats: Sequence[int]) -> str:
    """Return the prompt line that names the seats that need a plan."""
    return f"Plan one skill for {seat_names(skills, seats)}."


def retry_part(skills: Skills, whys: Mapping[int, str]) -> str:
    """Return the prompt that asks for new plans. `whys` has the reason why each seat's plan was rejected."""
    return "\n".join(
        [*whys.values(), f"All other plans stand. Plan again for {seat_names(skills, list(whys))}."]
    )


def answer_text(skills: Skills, plans: Mapping[int, Skill], analysis: str = "") -> str:
    """Return a model's answer in the form that the prompt requests: an analysis, if any, and a plan for
    each seat."""
    lines = [plan_line(skills.named(seat), skill) for seat, skill in plans.items()]
    return "\n".join([*([f"Analysis: {analysis}"] if analysis else []), *lines])
