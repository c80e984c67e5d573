"""What the model is asked: the fixed part, the last exchanges, and the present state.

Paper, section 4.1. Every part is there or not as the settings say, and nothing of a part that is off is said
elsewhere. Who commands whom is always told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.words.counting import and_list, counted
from kitchen.worlds.cuisine.dispatcher import guide, people
from kitchen.worlds.cuisine.dispatcher.demonstration import DISH, WAYS, Demonstration, demonstrate, team_of
from kitchen.worlds.cuisine.dispatcher.fitting import calls_tool
from kitchen.worlds.cuisine.dispatcher.lookahead import level_of
from kitchen.worlds.cuisine.dispatcher.moment import Moment, Team, agent_name
from kitchen.worlds.cuisine.dispatcher.options import Options
from kitchen.worlds.cuisine.dispatcher.spelling import spell_all
from kitchen.worlds.cuisine.dispatcher.state import describe

FEW_STEPS = 2
"""Steps of a few-step demonstration (paper, Table 7)."""


def fixed_part(moment: Moment, options: Options) -> str:
    """The same at every step of an episode, so that a provider can cache it."""
    return "\n\n".join(f"# {title}\n{text}" for title, text in _parts(moment, options))


def _parts(moment: Moment, options: Options) -> Iterator[tuple[str, str]]:
    brief, team = moment.brief, moment.team
    yield "Your task", frame(moment)
    if options.recipes:
        yield "Recipes", guide.recipes(brief)
    if options.instructions:
        form = {"as_tool": options.as_tool, "heed_feedback": options.feedback}
        yield "Instructions", guide.instructions(brief, team, **form, calls=calls_tool(options))
    if options.hints:
        yield "Good to know", guide.hints(brief)
    if moment.organisation:
        yield "Talking with people", people.rules(as_tool=options.as_tool)
    shown = demonstration_of(moment, options)
    if shown:
        yield "Demonstration", show(shown, options)


def demonstration_of(moment: Moment, options: Options) -> Demonstration | None:
    """The demonstration that these settings ask for, None for none."""
    if options.demonstration == "none":
        return None
    team = team_of(moment.team, options.demonstration_agents)
    return demonstrate(level_of(moment.brief), team, WAYS[options.demonstration_play])


def frame(moment: Moment) -> str:
    """What this is about, who is commanded, and who is not."""
    team = moment.team
    lines = [
        "You are the dispatcher of a kitchen in a cooking game that is played in steps. In every step "
        f"you tell {team.list_mine()} what to do. Serve as many ordered dishes as you can within "
        f"{moment.brief['max_steps']} steps, before their orders run out."
    ]
    if team.people:
        lines.append(_people(team))
    if team.others:
        who = _listed(team.others)
        lines.append(
            f"{who} {'is' if len(team.others) == 1 else 'are'} commanded by somebody else, not by you."
        )
    return "\n".join(lines)


def _people(team: Team) -> str:
    who = _listed(team.people)
    if len(team.people) == 1:
        return (
            f"{who} is a person, who decides alone: you see what the person does in a step before you "
            "command the others. Work with them, and never give a command for them."
        )
    return (
        f"{who} are people, who decide alone: you see what they do in a step before you command the others. "
        "Work with them, and never give a command for them."
    )


def _listed(seats: Sequence[int]) -> str:
    return and_list([agent_name(seat) for seat in seats])


def show(shown: Demonstration, options: Options) -> str:
    """A demonstration as text: its dish, then state and commands step by step."""
    steps = shown.steps[:FEW_STEPS] if options.demonstration == "few" else shown.steps
    brief = shown.steps[0].moment.brief
    lines = [_about(shown, whole=options.demonstration != "few"), guide.recipes(brief)]
    for step in steps:
        reply = spell_all(step.commands, as_tool=options.as_tool)
        lines += ["", "State:", describe(step.moment), "Commands:", reply]
    return "\n".join(lines)


def _about(shown: Demonstration, *, whole: bool) -> str:
    crew = counted(shown.team.agents, "agent")
    if shown.way is DISH:
        until = "from the first step until it is served" if whole else "its first steps"
        return f"How another dish was made in another kitchen with {crew}, {until}."
    twice = " twice" if shown.way.dishes(shown.team) == 2 else ""
    until = f"until it is served{twice}" if whole else "the first steps"
    return (
        f"How {crew} cooked another dish in another kitchen, {until}. Whoever has nothing to do for one "
        "order begins with the next."
    )


def state_part(moment: Moment, feedback: Sequence[str]) -> str:
    """What is new in this step: the state, the question, and the feedback if there is any."""
    parts = [describe(moment), *people.conversation(moment), f"Now command {moment.team.list_mine()}."]
    if feedback:
        parts += ["Feedback on the last step:", *(f"- {line}" for line in feedback)]
    return "\n".join(parts)


def repair_part(problems: Sequence[str], seats: Sequence[int], form: Sequence[str]) -> str:
    """The question for other commands for those agents whose commands cannot be carried out, with the form of
    an answer where the last one could not be read."""
    who = _listed(seats)
    return "\n".join(
        [
            f"Now give other commands for {who} only; the rest of yours stand and run before these.",
            *form,
            "Feedback, because not all of that can be carried out:",
            *(f"- {line}" for line in problems),
        ]
    )
