"""What the model is asked: the fixed part, the last exchanges, and the present state.

Paper, section 4.1. Every part is there or not as the settings say, and nothing of a part that is off is said
elsewhere. Who commands whom is always told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kitchen.words.counting import and_list, counted
from kitchen.worlds.cuisine.dispatcher import guide, jobs, people
from kitchen.worlds.cuisine.dispatcher.demonstration import DISH, WAYS, Demonstration, demonstrate, team_of
from kitchen.worlds.cuisine.dispatcher.fitting import calls_tool
from kitchen.worlds.cuisine.dispatcher.lookahead import level_of
from kitchen.worlds.cuisine.dispatcher.moment import Moment, Team, agent_name
from kitchen.worlds.cuisine.dispatcher.options import Options
from kitchen.worlds.cuisine.dispatcher.own_text import filled
from kitchen.worlds.cuisine.dispatcher.spelling import spell_all
from kitchen.worlds.cuisine.dispatcher.state import describe

FEW_STEPS = 2
"""Steps of a few-step demonstration (paper, Table 7)."""


def fixed_part(moment: Moment, options: Options) -> str:
    """The same at every step of an episode, so that a provider can cache it."""
    if options.prompt:
        return filled(options.prompt, {**parts(moment, options), **pieces(moment, options)})
    return "\n\n".join(parts(moment, options).values())


def parts(moment: Moment, options: Options) -> dict[str, str]:
    """The parts that are there, by the names of their placeholders, each with its heading."""
    return {name: f"# {title}\n{text}" for name, title, text in _parts(moment, options)}


def _parts(moment: Moment, options: Options) -> Iterator[tuple[str, str, str]]:
    brief, team = moment.brief, moment.team
    yield "task", "Your task", frame(moment)
    if options.persona:
        yield "persona", "Who you are", options.persona
    if options.recipes:
        yield "recipes", "Recipes", guide.recipes(brief)
    if options.instructions:
        form = {"as_tool": options.as_tool, "heed_feedback": options.feedback}
        told = guide.instructions(brief, team, **form, calls=calls_tool(options))
        yield "instructions", "Instructions", told
    if options.hints:
        yield "hints", "Good to know", guide.hints(brief)
    if moment.organisation:
        yield "talk", "Talking with people", _talk(moment, options)
    shown = demonstration_of(moment, options)
    if shown:
        yield "demonstration", "Demonstration", show(shown, options)


def _talk(moment: Moment, options: Options) -> str:
    rules = [people.rules(as_tool=options.as_tool)]
    return "\n".join([*rules, *([jobs.rules(as_tool=options.as_tool)] if jobs.is_led(moment) else [])])


def pieces(moment: Moment, options: Options) -> Mapping[str, str]:
    """Single pieces of the parts, by the names of their placeholders."""
    answer = guide.answer(moment.team, as_tool=options.as_tool, calls=calls_tool(options))
    return {
        "agents": moment.team.list_mine(),
        "team": "\n".join(who_else(moment)),
        "steps": str(moment.brief["max_steps"]),
        "commands": "\n".join(guide.commands(as_tool=options.as_tool)),
        "places": "\n".join(guide.places(moment.brief)),
        "answer": "\n".join(answer),
    }


def demonstration_of(moment: Moment, options: Options) -> Demonstration | None:
    """The demonstration that these settings ask for, None for none."""
    if options.demonstration == "none":
        return None
    team = team_of(moment.team, options.demonstration_agents)
    return demonstrate(level_of(moment.brief), team, WAYS[options.demonstration_play])


def frame(moment: Moment) -> str:
    """What this is about, who is commanded, and who is not."""
    about = (
        "You are the dispatcher of a kitchen in a cooking game that is played in steps. In every step "
        f"you tell {moment.team.list_mine()} what to do. Serve as many ordered dishes as you can within "
        f"{moment.brief['max_steps']} steps, before their orders run out."
    )
    return "\n".join([about, *who_else(moment)])


def who_else(moment: Moment) -> Iterator[str]:
    """Who plays beside the agents that are commanded, in sentences."""
    team = moment.team
    if team.people:
        yield _people(team, seen=moment.sees_people)
    if team.others:
        verb = "is" if len(team.others) == 1 else "are"
        yield f"{_listed(team.others)} {verb} commanded by somebody else, not by you."


def _people(team: Team, *, seen: bool) -> str:
    who, one = _listed(team.people), len(team.people) == 1
    are, they, do = ("is a person", "the person", "does") if one else ("are people", "they", "do")
    order = "before you" if seen else "only after you"
    return (
        f"{who} {are}, who decide{'s' if one else ''} alone: you see what {they} {do} in a step {order} "
        "command the others. Work with them, and never give a command for them."
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
    said = [*people.conversation(moment), *jobs.listed(moment)]
    parts = [describe(moment), *said, *_question(moment)]
    if feedback:
        parts += ["Feedback on the last step:", *(f"- {line}" for line in feedback)]
    return "\n".join(parts)


def _question(moment: Moment) -> Iterator[str]:
    yield f"Now command {moment.team.list_asked()}."
    if moment.only_answers:
        yield (
            "Nobody has chosen yet: what counts of this reply is what you say. You will be asked for "
            "commands again before the step runs."
        )


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
