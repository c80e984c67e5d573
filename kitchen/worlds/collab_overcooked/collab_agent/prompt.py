"""Write the language-model prompts of the agent `collab`, a cook in Collab-Overcooked.

The agent plays the chef or the assistant. The texts are our own, not those of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.agents.talk_rules import talk_rule_lines
from kitchen.contract.agent import REASON_PLAN_BROKEN, Situation
from kitchen.contract.automatic_commands import PLAN_ILLEGAL
from kitchen.contract.language_model import Message
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import in_english
from kitchen.words.quoted_messages import without_chat_marks
from kitchen.worlds.collab_overcooked.display_text import (
    REASON_WORDS,
    recipe_steps,
    thing_words,
    utensil_words,
)
from kitchen.worlds.collab_overcooked.macro_checks import refusal_code, spelled, things_from_observation
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    SEAT_NAMES,
    Layout,
    layout_of,
)

OWN_MACROS_SHOWN = 4
LESSONS_SHOWN = 3

SHARED_WORDS = {1: "one shared counter", 2: "two shared counters", 3: "three shared counters"}
RULES = """You cook together with a teammate. One dish is ordered. You are the {me}.
Your teammate is the {other}.
There are two closed rooms with {counters} between them.
- The chef's room has pot0, oven0 and the serving place.
- The assistant's room has ingredient_dispenser, dish_dispenser, chopping_board0 and blender0.
You can carry one thing. A counter takes one thing too, and a utensil takes three ingredients at most.
A started utensil runs 3 steps. If its contents make nothing, they are lost.
What lies in a utensil cannot be taken out unfinished.
Soups, stews and patties are filled into a dish and delivered in it. Other food is delivered without a dish.
The game ends with the right delivery, or after {limit} steps."""
MACROS = (
    """Actions of the chef:
- pickup THING counter: needs empty hands and the thing on a counter the chef reaches.
- pickup THING pot0 (or oven0): needs empty hands and the finished thing inside; not soups, stews and patties.
- put_obj_in_utensil pot0 (or oven0): puts in what is held, unless it runs or holds something finished.
- cook pot0, bake oven0: start the utensil; needs empty hands and contents.
- place_obj_on_counter: puts down what is held.
- fill_dish_with_food pot0 (or oven0): needs an empty dish in hand; waits until the food is finished.
- deliver: delivers the held food.
- wait N: 1 to 5 steps.""",
    """Actions of the assistant:
- pickup THING ingredient_dispenser: a raw ingredient. pickup dish dish_dispenser: a dish. Needs empty hands.
- pickup THING counter: needs empty hands and the thing on a counter the assistant reaches.
- pickup THING chopping_board0 (or blender0): needs empty hands and the finished thing inside.
- put_obj_in_utensil chopping_board0 (or blender0): puts in what is held.
- cut chopping_board0, stir blender0: start the utensil; needs empty hands and contents.
- place_obj_on_counter: puts down what is held.
- wait N: 1 to 5 steps.""",
)
KNOWING_WAY = (
    "Read the recipe. Ask the {other} for what you need, early and exactly, as requests. Work meanwhile."
)
ASKING_WAY = (
    "You depend on the {other}: ask what is needed, do what is requested, say so if something is impossible."
)
SERVING = "The chef serves the dish."
JSON_FORM = """Answer with one JSON object and nothing else:
{"analysis": "one or two sentences", "plan": ["action", ...], "requests": ["action", ...], "say": "words"}"""
LINES_FORM = """Answer in these four parts and nothing else, with one action on each line:
Analysis: one or two sentences
Plan:
action
Requests:
action
Say: words"""
ANSWER = """`plan` are your own next actions, in order. `requests` are actions for your teammate,
word for word. `say` is a message to your teammate; leave it empty to say nothing and begin your plan.
End it with END if you expect no answer."""
REPAIR = "Your answer could not be read: {why}. Answer again in the form described."
CORRECTION = """Your action `{macro}` cannot begin now: {reason}. Give a new plan.
You cannot talk now: leave `say` and `requests` empty."""
REFLECTION = """Your action `{macro}` failed: {reason}. You then did `{solution}`, which was possible.
Write one lesson for later in at most 50 words, and nothing else."""
NOT_KNOWN = "You do not have the recipe."


def reason_text(code: str) -> str:
    """Return the English text for the code of a refusal."""
    return REASON_WORDS.get(code, code)


def fixed_prompt(
    brief: Mapping[str, Json], seat: int, *, structured: bool, organisation: Organisation | None = None
) -> Message:
    """Return the system message, which stays the same for the whole episode. It asks for answers in JSON
    if `structured` is true, else for lines of text. `organisation` names the language of messages."""
    me, other = SEAT_NAMES[seat], SEAT_NAMES[1 - seat]
    with in_english():
        steps = recipe_steps(brief)
        order = f"Order: {brief['order']} ({'in a dish' if brief['in_dish'] else 'without a dish'})."
    recipe = "\n".join(["Recipe:", *(f"- {step}" for step in steps)]) if steps else NOT_KNOWN
    counters = SHARED_WORDS[len(layout_of(brief).shared)]
    rules = RULES.format(me=me, other=other, limit=brief["limit"], counters=counters)
    way = f"{(KNOWING_WAY if steps else ASKING_WAY).format(other=other)} {SERVING}"
    form = JSON_FORM if structured else LINES_FORM
    answer = "\n".join([form, ANSWER, *talk_rule_lines(organisation)])
    return Message("system", "\n\n".join((rules, *MACROS, way, order, recipe, answer)), fixed=True)


def situation_prompt(situation: Situation, seat: int, lessons: Sequence[str], errors: Sequence[str]) -> str:
    """Return the prompt for this step: the present state, the last `lessons`, the `errors` to correct, and
    the conversation of this step."""
    seen = situation.observations[seat]
    with in_english():
        lines = [
            f"Step {seen['step'] + 1}, {seen['steps_left']} steps left.",
            *(
                _cook(seen["players"][each], each, situation.plans.get(each, ()), you=each == seat)
                for each in (CHEF, ASSISTANT)
            ),
            "Utensils: "
            + "; ".join(f"{each['thing']}: {utensil_words(each)}" for each in seen["utensils"])
            + ".",
            _counters(seen["counters"], layout_of(situation.briefs[seat])),
        ]
    own = seen["players"][seat]["done"][-OWN_MACROS_SHOWN:]
    lines += [f"Your last actions: {spelled(own)}."] if own else []
    lines += _news(situation, seat)
    lines += [f"Lesson: {each}" for each in lessons[-LESSONS_SHOWN:]]
    lines += [f"- {error}" for error in errors]
    said = [_said(one, situation.talk.member) for one in talk_of_step(situation)]
    lines += ["Conversation in this step:", *said] if said else ["Nobody has said anything in this step."]
    return "\n".join(lines)


def talk_of_step(situation: Situation) -> list[TeamMessage]:
    """Return the messages that members sent in the present step, in order."""
    return [
        one for one in situation.talk.messages if one.step == situation.step + 1 and one.sender is not None
    ]


def _cook(player: Mapping[str, Json], seat: int, planned: Sequence[Command], *, you: bool) -> str:
    who = f"The {SEAT_NAMES[seat]}{' (you)' if you else ''}"
    doing = f", is doing: {' '.join(player['doing'])}" if player["doing"] else ""
    queue = f", then planned: {spelled(planned)}" if planned else ""
    return f"{who} holds {thing_words(player['holds'])}{doing}{queue}."


def _news(situation: Situation, seat: int) -> list[str]:
    """Return what went wrong in the last step: lost contents, and this seat's actions that did not work."""
    lines = []
    for kind, who, data in situation.events:
        if kind == "destroyed":
            lost = ", ".join(map(thing_words, data["contents"]))
            lines.append(f"{data['utensil']}: the contents ({lost}) made nothing and are lost.")
        elif who == seat and kind == "gone":
            lines.append(f"Your action `{' '.join(data['macro'])}` ended: what it needed is gone.")
        elif who == seat and kind == "refused":
            lines.append(_not_begun(data["command"], data["reasons"][0]))
        elif who == seat and kind == REASON_PLAN_BROKEN and data["why"] == PLAN_ILLEGAL:
            macro = tuple(data["left"][0])
            lines.append(f"{_not_begun(macro, code_now(situation, seat, macro))} Your plan has ended.")
    return lines


def _not_begun(macro: Sequence[str], code: str) -> str:
    return f"Your action `{' '.join(macro)}` did not begin: {reason_text(code)}."


def code_now(situation: Situation, seat: int, macro: Command) -> str:
    """Return the code of the first check that this macro (a command that lasts several steps) would fail
    now; empty if it can begin."""
    things = things_from_observation(situation.observations[seat], situation.briefs[seat])
    return refusal_code(things, seat, macro)


def _counters(counters: Sequence[Mapping[str, Json]], layout: Layout) -> str:
    """Return what lies on the shared counters, and on those that only one cook reaches."""
    places = {"Shared counters": layout.shared} | {
        f"Counters of the {name}": cells for name, cells in zip(SEAT_NAMES, layout.own, strict=True)
    }
    found = {
        place: [thing_words(each["thing"]) for each in counters if tuple(each["at"]) in cells]
        for place, cells in places.items()
    }
    return " ".join(f"{place}: {', '.join(things) or 'empty'}." for place, things in found.items())


def _said(message: TeamMessage, member: int) -> str:
    who = "You" if message.sender == member else "Teammate"
    requests: list[Command] = commands_in(message.data, REQUESTS_KEY)
    return f"{who}: {without_chat_marks(message.text) or '(nothing)'}" + (
        f" [requests: {spelled(requests)}]" if requests else ""
    )
