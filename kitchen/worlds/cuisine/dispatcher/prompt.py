"""Write the prompt of the dispatcher, a language model that commands several robots.

The parts are recipes, instructions, hints, an example, state and feedback. Settings switch each part on or
off. Researchers can replace the parts that stay the same in every step by their own text with placeholders.
Source: MindAgent, section 4.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kitchen.agents.talk_rules import talk_rule_lines
from kitchen.contract.declared_settings import PLACEHOLDER_PATTERN, placeholders_in
from kitchen.contract.organisation import INFORM, SAY
from kitchen.contract.world import Event, Json
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.cuisine.dispatcher import message_and_job_text
from kitchen.worlds.cuisine.dispatcher.command_check import (
    VERB_FORMS,
    CommandedTeam,
    agent_name,
    refusal_fault,
    spell_command,
)
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment, spell_commands
from kitchen.worlds.cuisine.dispatcher.prompt_demonstration import (
    DEMONSTRATION_KINDS,
    DISH_DEMONSTRATION,
    Demonstration,
    demonstrate,
    demonstration_team,
)
from kitchen.worlds.cuisine.dispatcher.settings import PROMPT_PARTS, SENTENCES, DispatcherOptions, calls_tool
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen, level_from_brief

Brief = Mapping[str, Json]


def recipe_lines(brief: Brief) -> str:
    """Return a list of the level's products as text, each with its tool and ingredients. Dishes come
    first."""
    dishes = [product for product in brief["recipes"] if product in brief["dishes"]]
    parts = [product for product in brief["recipes"] if product not in brief["dishes"]]
    lines = ["Dishes that are ordered:", *(_recipe(brief, product) for product in dishes)]
    lines += ["Made on the way:", *(_recipe(brief, product) for product in parts)] if parts else []
    return "\n".join(lines)


def _recipe(brief: Brief, product: str) -> str:
    recipe = brief["recipes"][product]
    line = f"- {product}: activate a {recipe['tool']} with exactly {' + '.join(recipe['ingredients'])} inside"
    missing = recipe["tool"] not in brief["tools"]
    return f"{line} (there is no {recipe['tool']} here: it cannot be made)" if missing else line


def instruction_lines(moment: KitchenMoment, options: DispatcherOptions) -> Iterator[str]:
    """Yield the lines of the instructions: commands, locations, ingredients, number of agents, and the
    reply format."""
    brief = moment.brief
    yield from ("Commands:", *command_lines(options), "Locations of this kitchen:", *place_lines(brief))
    yield f"Base ingredients, from the storage: {', '.join(brief['base'])}."
    made = [product for product in brief["recipes"] if product not in brief["dishes"]]
    yield f"Intermediate products: {', '.join(made) or 'none'}."
    yield from (*_rules(moment.team), answer_form(moment.team, options))
    if options.feedback:
        yield "Heed the feedback that you get with the state: do not repeat what was refused."


def command_lines(options: DispatcherOptions) -> Iterator[str]:
    """Yield one line per command, with its form and its effect."""
    for verb, meaning in SENTENCES["commands"].items():
        yield f"- {verb if options.as_tool else VERB_FORMS[verb]}: {meaning}"


def place_lines(brief: Brief) -> Iterator[str]:
    """Yield one line per kind of place, with its ids and what it does."""
    for kind, tool in brief["tools"].items():
        ids = ", ".join(id for id, its in brief["locations"].items() if its == kind)
        yield f"- {ids}: {SENTENCES['fixtures'].get(kind) or _tool(kind, tool)}"


def _tool(kind: str, tool: Mapping[str, Json]) -> str:
    most = tool["capacity"]
    room = "any number of items" if most is None else f"up to {counted_noun(most, 'item')}"
    if not tool["busy"]:
        return f"{kind}, holds {room}, is done at once when activated."
    stay = "together with the agent that activated it" if tool["attended"] else "while agents may leave"
    busy = counted_noun(tool["busy"], "step")
    return f"{kind}, holds {room}, is occupied for {busy} when activated, {stay}."


def _rules(team: CommandedTeam) -> Iterator[str]:
    total = f"There are {team.agents} agents" if team.agents > 1 else "There is 1 agent"
    yield f"{total}; you command {team.list_mine()}. Each of these gets exactly one command in every step."
    before = ", after the commands of the other agents" if team.people or team.others else ""
    yield SENTENCES["questions"]["order_of_commands"].format(before=before)


def answer_form(team: CommandedTeam, options: DispatcherOptions) -> str:
    """Return the instructions on how the model must write its reply."""
    if options.as_tool:
        return f"{_tool_form(options)}; where a command has no location or no item, say `none`."
    name, example = agent_name(team.mine[0]), spell_command(team.mine[0], ("goto", "storage0"))
    return str(SENTENCES["questions"]["text_form"].format(example=example, name=name))


def _tool_form(options: DispatcherOptions) -> str:
    """Return the prompt's text about how to answer in a structured reply. It asks for a tool call only if
    the model gets a tool."""
    json_object = "with one JSON object of the form that you are given"
    form = "by calling the tool" if calls_tool(options) else json_object
    return f"Answer {form}, with one entry for each agent"


def retry_form(seats: Sequence[int], options: DispatcherOptions) -> list[str]:
    """Return lines that repeat the reply format for these seats, for a model whose last reply could not be
    read."""
    if options.as_tool:
        return [f"{_tool_form(options)}: agent, verb, location and item, `none` where there is none."]
    verbs = ", ".join(VERB_FORMS.values())
    form = f"Answer in this form only, one command a line under the word Commands, each one of {verbs}:"
    return [form, "Commands:", *(spell_command(seat, ("goto", "storage0")) for seat in seats)]


def hint_lines(brief: Brief) -> str:
    """Return hints that prevent common errors, one per line. Hints about tools that this kitchen lacks are
    left out.

    The paper calls these hints inference knowledge.
    """
    kinds = set(brief["locations"].values())
    hints = SENTENCES["hints"]
    return "\n".join(f"- {hint['text']}" for hint in hints if kinds.issuperset(hint.get("needs", ())))


def describe_state(moment: KitchenMoment) -> str:
    """Return the current state as text: step, orders, agents, locations, served dishes, and other agents'
    commands of this step."""
    return "\n".join([*_orders_and_agents(moment), *_locations(moment), *_served(moment), *_others(moment)])


def _orders_and_agents(moment: KitchenMoment) -> Iterator[str]:
    seen = moment.observation
    yield f"Level {moment.brief['level']}, step {seen['step'] + 1} of {seen['max_steps']}."
    yield "Orders, most urgent first:" if seen["orders"] else "Orders: none now."
    for order in seen["orders"]:
        yield f"- {order['dish']}, {counted_noun(order['life'], 'step')} left"
    yield "Agents:"
    for seat, agent in enumerate(seen["agents"]):
        name = moment.team.named(seat)
        yield f"- {name}: at {agent['at']}; hold {agent['holds'] or 'nothing'}; occupy {_busy(agent)}"


def _locations(moment: KitchenMoment) -> Iterator[str]:
    yield "Locations:"
    for id, place in moment.observation["locations"].items():
        if moment.brief["locations"][id] == "storage":
            yield f"- {id}: inside every base ingredient"
        else:
            yield f"- {id}: inside {and_list(place['items']) or 'nothing'}; occupy {_busy(place)}"


def _busy(thing: Mapping[str, Json]) -> str:
    return f"for {counted_noun(thing['busy'], 'step')}" if thing["busy"] else "no"


def _served(moment: KitchenMoment) -> Iterator[str]:
    counts: Counter[str] = Counter(moment.observation["delivered"])
    dishes = [f"{dish} x{number}" if number > 1 else dish for dish, number in counts.items()]
    yield f"Dishes completed: {', '.join(dishes) or 'none'}. Orders failed: {moment.observation['failed']}."


def _others(moment: KitchenMoment) -> Iterator[str]:
    """Yield lines about other agents' commands in this step, which run before the dispatcher's. Agents
    without a command are mentioned, too."""
    for seat, command in moment.commanded.items():
        alone = " (not to be commanded now)" if seat in moment.team.settled else ""
        name = f"{moment.team.named(seat)}{alone}"
        yield f"{name} does in this step, before your agents: {spell_command(seat, command)}"
    for seat in moment.team.people:
        if seat not in moment.commanded:
            yield f"What {agent_name(seat)} (a person) does in this step is not known yet."


_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def fill_placeholders(text: str, meant: Mapping[str, str]) -> str:
    """Return the text with each placeholder replaced by its value in `meant`. Unknown placeholders become
    empty.

    Paragraphs that become empty are removed. Placeholders inside the inserted values are not replaced.
    """
    paragraphs = (
        PLACEHOLDER_PATTERN.sub(lambda found: meant.get(found[1], ""), paragraph)
        for paragraph in _BLANK.split(text.strip())
    )
    return "\n\n".join(each for each in paragraphs if each.strip())


def missing_part(options: DispatcherOptions) -> str:
    """Return why a researcher's own prompt is incomplete, as `prompt: reason`. The reason lists the missing
    placeholders.

    Return an empty string if nothing is missing, or if the default prompt is used.
    """
    if not options.prompt:
        return ""
    there = set(placeholders_in(options.prompt))
    lacks = list(_lacks(options, there))
    return f"prompt: {'; '.join(lacks)}" if lacks else ""


def _lacks(options: DispatcherOptions, there: set[str]) -> Iterator[str]:
    if "task" not in there and not {"agents", "team"} <= there:
        yield "it does not say whom the model commands: put in {task}, or both {agents} and {team}"
    parts = [f"{{{name}}}" for name in _needed(options) if name not in there]
    if parts:
        are = "is" if len(parts) == 1 else "are"
        yield f"{and_list(parts)} {are} missing: put in what is switched on, or switch it off"
    if "talk" not in there:
        yield "{talk} is missing: without it nothing is said of people who write; it is empty where none may"
    shows_form = options.instructions or options.demonstration != "none" or "answer" in there
    if not options.as_tool and not shows_form:
        yield "nothing tells the form of a reply: put in {answer}"


def _needed(options: DispatcherOptions) -> Iterator[str]:
    """Yield the names of the prompt's parts that the settings require."""
    parts = {
        "persona": bool(options.persona),
        "recipes": options.recipes,
        "instructions": options.instructions,
        "hints": options.hints,
        "demonstration": options.demonstration != "none",
    }
    return (name for name, is_on in parts.items() if is_on)


def unused_parts(options: DispatcherOptions) -> tuple[str, ...]:
    """Return a sentence (in a tuple) if a researcher's own prompt has placeholders for parts that are
    switched off. The sentence names them. Otherwise return an empty tuple."""
    unused = set(placeholders_in(options.prompt)) - {*_needed(options), "task", "talk"}
    off = [f"{{{name}}}" for name in PROMPT_PARTS if name in unused]
    stay = "stays" if len(off) == 1 else "stay"
    return (f"Of the system text {and_list(off)} {stay} empty: switched off.",) if off else ()


FEW_STEPS = 2
"""Steps of a few-step demonstration (paper, Table 7)."""


def fixed_part(moment: KitchenMoment, options: DispatcherOptions) -> str:
    """Return the part of the prompt that is the same at every step of an episode. A provider can cache it."""
    parts = prompt_parts(moment, options)
    if options.prompt:
        return fill_placeholders(options.prompt, {**parts, **prompt_pieces(moment, options)})
    return "\n\n".join(parts.values())


def prompt_parts(moment: KitchenMoment, options: DispatcherOptions) -> dict[str, str]:
    """Return the texts of the prompt's parts that are switched on, by placeholder name. Each text includes
    its heading."""
    return {name: f"# {title}\n{text}" for name, title, text in _parts(moment, options)}


def _parts(moment: KitchenMoment, options: DispatcherOptions) -> Iterator[tuple[str, str, str]]:
    yield "task", "Your task", frame_text(moment)
    if options.persona:
        yield "persona", "Who you are", options.persona
    if options.recipes:
        yield "recipes", "Recipes", recipe_lines(moment.brief)
    if options.instructions:
        yield "instructions", "Instructions", "\n".join(instruction_lines(moment, options))
    if options.hints:
        yield "hints", "Good to know", hint_lines(moment.brief)
    if moment.organisation:
        yield "talk", "Talking with people", _talk(moment, options)
    if shown := demonstration_for(moment, options):
        yield "demonstration", "Demonstration", demonstration_text(shown, options)


def _talk(moment: KitchenMoment, options: DispatcherOptions) -> str:
    topics = ["talk"]
    if len(message_and_job_text.addressee_names(moment, SAY)) > 1:
        topics.append("talk_to_one")
    if message_and_job_text.is_led(moment):
        topics.append("jobs")
    if message_and_job_text.addressee_names(moment, INFORM):
        topics.append("give")
    form = "in_tool" if options.as_tool else "in_text"
    rules = [SENTENCES[topic]["rules"].format(how=SENTENCES[topic][form]) for topic in topics]
    return "\n".join([*rules, *talk_rule_lines(moment.organisation)])


def prompt_pieces(moment: KitchenMoment, options: DispatcherOptions) -> Mapping[str, str]:
    """Return the small texts for a researcher's own prompt, such as the list of agents, by placeholder
    name."""
    return {
        "agents": moment.team.list_mine(),
        "team": "\n".join(other_players_text(moment)),
        "steps": str(moment.brief["max_steps"]),
        "commands": "\n".join(command_lines(options)),
        "places": "\n".join(place_lines(moment.brief)),
        "answer": answer_form(moment.team, options),
    }


def demonstration_for(moment: KitchenMoment, options: DispatcherOptions) -> Demonstration | None:
    """Return the demonstration that the settings select for this level and team.

    Return None if demonstrations are switched off, or if the selected one cannot be played.
    """
    if options.demonstration == "none":
        return None
    team = demonstration_team(moment.team, options.demonstration_agents)
    return demonstrate(level_from_brief(moment.brief), team, DEMONSTRATION_KINDS[options.demonstration_play])


def frame_text(moment: KitchenMoment) -> str:
    """Return the description of the model's task: the game, the model's agents, and the agents that the
    model does not command."""
    task: str = SENTENCES["questions"]["task"]
    about = task.format(agents=moment.team.list_mine(), steps=moment.brief["max_steps"])
    return "\n".join([about, *other_players_text(moment)])


def other_players_text(moment: KitchenMoment) -> Iterator[str]:
    """Yield a sentence about agents that people command, if there are any. Then yield a sentence about
    agents that other programs command, if there are any."""
    team = moment.team
    if team.people:
        yield _people(team, seen=moment.sees_people)
    if team.others:
        verb = "is" if len(team.others) == 1 else "are"
        yield f"{_listed(team.others)} {verb} commanded by somebody else, not by you."


def _people(team: CommandedTeam, *, seen: bool) -> str:
    who, one = _listed(team.people), len(team.people) == 1
    are, they, do = ("is a person", "the person", "does") if one else ("are people", "they", "do")
    order = "before you" if seen else "only after you"
    alone = f"{who} {are}, who decide{'s' if one else ''} alone"
    seen_when = f"you see what {they} {do} in a step {order} command the others"
    return f"{alone}: {seen_when}. Work with them, and never give a command for them."


def _listed(seats: Sequence[int]) -> str:
    return and_list([agent_name(seat) for seat in seats])


def demonstration_text(shown: Demonstration, options: DispatcherOptions) -> str:
    """Return the demonstration as text: a heading, the recipes, then the state and the commands of each
    step."""
    steps = shown.steps[:FEW_STEPS] if options.demonstration == "few" else shown.steps
    brief = shown.steps[0].moment.brief
    lines = [_demonstration_heading(shown, whole=options.demonstration != "few"), recipe_lines(brief)]
    for step in steps:
        reply = spell_commands(step.commands, as_tool=options.as_tool)
        lines += ["", "State:", describe_state(step.moment), "Commands:", reply]
    return "\n".join(lines)


def _demonstration_heading(shown: Demonstration, *, whole: bool) -> str:
    crew = counted_noun(shown.team.agents, "agent")
    if shown.way is DISH_DEMONSTRATION:
        until = "from the first step until it is served" if whole else "its first steps"
        return f"How another dish was made in another kitchen with {crew}, {until}."
    twice = " twice" if shown.way.dishes(shown.team) == 2 else ""
    until = f"until it is served{twice}" if whole else "the first steps"
    rest = "Whoever has nothing to do for one order begins with the next."
    return f"How {crew} cooked another dish in another kitchen, {until}. {rest}"


def state_part(moment: KitchenMoment, feedback: Sequence[str]) -> str:
    """Return the part of the prompt about this step: state, messages, jobs, the agents to command, and
    feedback if there is any."""
    said = [*message_and_job_text.conversation_lines(moment), *message_and_job_text.job_lines(moment)]
    parts = [describe_state(moment), *said, f"Now command {moment.team.list_asked()}."]
    if moment.only_answers:
        parts.append(SENTENCES["questions"]["only_answers"])
    if feedback:
        parts += ["Feedback on the last step:", *(f"- {line}" for line in feedback)]
    return "\n".join(parts)


def repair_part(problems: Sequence[str], seats: Sequence[int], form: Sequence[str]) -> str:
    """Return a question that asks the model for other commands for these seats, because of these `problems`.

    `form` repeats the reply format. It is empty if the last reply could be read.
    """
    asks = f"Now give other commands for {_listed(seats)} only; the rest of yours stand and run before these."
    why = "Feedback, because not all of that can be carried out:"
    return "\n".join([asks, *form, why, *(f"- {line}" for line in problems)])


def feedback_sentences(
    moment: KitchenMoment, remembered: Sequence[str], *, confirms: bool = False
) -> list[str]:
    """Return the feedback that the model gets before this step; empty if there is none.

    It consists of faults in the last reply (`remembered`), late replies, refused commands, events of the
    kitchen, and advice about useless items. With `confirms`, it also says which items were collected.
    """
    done = _collected(moment) if confirms else ()
    lines = [*remembered, *_late(moment), *_refused(moment), *done, *_news(moment.events), *_advice(moment)]
    return list(dict.fromkeys(lines))


def _late(moment: KitchenMoment) -> Iterator[str]:
    """Yield sentences about replies that arrived too late, and about commands that were not carried out
    because the kitchen had changed."""
    for late in moment.late:
        given = ", ".join(spell_command(*each) for each in late.commands.items())
        if late.stale:
            yield f"When step {late.step} came, this was no longer possible and was dropped: {given}."
            continue
        said = f" ({given})" if given else ""
        yield f"Your reply for step {late.step} came too late and was not followed{said}: see the state now."


def _refused(moment: KitchenMoment) -> Iterator[str]:
    """Yield sentences about commands of the dispatcher's agents that passed the check but were refused in the
    game."""
    scene = SimulatedKitchen(moment.brief, moment.observation)
    for event in moment.events:
        if event.kind == "refused" and event.seat in moment.team.mine:
            command = tuple(str(part) for part in event.data["command"])
            seat, place = int(event.seat or 0), scene.place(command)
            yield refusal_fault(seat, command, event.data["reasons"], scene.agent(seat), place).text


def _collected(moment: KitchenMoment) -> Iterator[str]:
    """Yield a sentence for each item that the dispatcher's agents took, as the paper's game says *collect
    finish* (MindAgent, section 4.2)."""
    for event in moment.events:
        if event.kind == "performed" and event.seat in moment.team.mine and event.data["command"][0] == "get":
            taken = moment.observation["agents"][event.seat]["holds"] or event.data.get("item", "an item")
            yield SENTENCES["news"]["collected"].format(agent=agent_name(event.seat), item=taken)


def _news(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event.kind in SENTENCES["news"]:
            yield SENTENCES["news"][event.kind].format(dish=event.data.get("dish", ""))


def _advice(moment: KitchenMoment) -> Iterator[str]:
    """Yield advice in the prompt to throw away useless items that agents hold."""
    storage = next(id for id, kind in moment.brief["locations"].items() if kind == "storage")
    for seat in moment.team.mine:
        agent = moment.observation["agents"][seat]
        if agent["holds"] and not _is_useful(agent["holds"], moment.brief):
            verb = "put" if agent["at"] == storage else "goto"
            yield (
                f"{agent_name(seat)} holds {agent['holds']}, which no recipe here needs: bring it to "
                f"{storage} and put it there; next {spell_command(seat, (verb, storage))}."
            )


def _is_useful(item: str, brief: Brief) -> bool:
    """Return whether the item is a dish of this level or an ingredient of one of its recipes."""
    return item in brief["dishes"] or any(item in r["ingredients"] for r in brief["recipes"].values())
