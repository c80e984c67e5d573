"""The fixed parts of the prompt that tell about a kitchen: recipes, instructions, inference knowledge.

Paper, section 4.1 and appendix A; the facts are of the level that is played, the wording is our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kitchen.contract.world import Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine.dispatcher.moment import Team, agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import spell
from kitchen.worlds.cuisine.dispatcher.wording import VERB_FORMS

Brief = Mapping[str, Json]


def recipes(brief: Brief) -> str:
    """Every product of the level with its tool and ingredients, dishes first, down to base ingredients."""
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


def instructions(brief: Brief, team: Team, *, as_tool: bool, heed_feedback: bool, calls: bool = True) -> str:
    """Commands, tools of this kitchen, ingredients, how many agents, and how to answer: a model that is not
    given the tool (`calls`) is not told to call it."""
    lines = ["Commands:", *commands(as_tool=as_tool), "Locations of this kitchen:", *places(brief)]
    lines.append(f"Base ingredients, from the storage: {', '.join(brief['base'])}.")
    made = [product for product in brief["recipes"] if product not in brief["dishes"]]
    lines.append(f"Intermediate products: {', '.join(made) or 'none'}.")
    lines += [*_rules(team), *answer(team, as_tool=as_tool, calls=calls)]
    if heed_feedback:
        lines.append("Heed the feedback that you get with the state: do not repeat what was refused.")
    return "\n".join(lines)


def commands(*, as_tool: bool) -> Iterator[str]:
    """Each command and what it does, one a line."""
    for verb, meaning in _MEANINGS.items():
        yield f"- {verb if as_tool else VERB_FORMS[verb]}: {meaning}"


_MEANINGS = {
    "goto": "the agent goes to the location; it is there in the next step.",
    "get": "with empty hands, take an item where the agent stands. From the storage, name the item.",
    "put": "put what the agent holds into the location where it stands.",
    "activate": "with empty hands, start the tool where the agent stands: its contents become the product.",
    "noop": "do nothing in this step.",
}


def places(brief: Brief) -> Iterator[str]:
    """The locations of the kitchen, one kind a line."""
    for kind, tool in brief["tools"].items():
        ids = ", ".join(id for id, its in brief["locations"].items() if its == kind)
        yield f"- {ids}: {_FIXTURES.get(kind) or _tool(kind, tool)}"


_FIXTURES = {
    "storage": "gives every base ingredient without end; what is put there is thrown away.",
    "servingtable": "finished dishes are put here, which completes their orders. Nothing comes back.",
}


def _tool(kind: str, tool: Mapping[str, Json]) -> str:
    room = "any number of items" if tool["capacity"] is None else "up to " + counted(tool["capacity"], "item")
    if not tool["busy"]:
        return f"{kind}, holds {room}, is done at once when activated."
    stay = "together with the agent that activated it" if tool["attended"] else "while agents may leave"
    return f"{kind}, holds {room}, is occupied for {counted(tool['busy'], 'step')} when activated, {stay}."


def _rules(team: Team) -> Iterator[str]:
    total = f"There are {team.agents} agents" if team.agents > 1 else "There is 1 agent"
    yield f"{total}; you command {team.list_mine()}. Each of these gets exactly one command in every step."
    before = ", after the commands of the other agents" if team.people or team.others else ""
    yield (
        f"Commands run one after another in the order in which you give them{before}: a later one already "
        "meets what an earlier one has done. A command that cannot be carried out is lost for that step."
    )


def answer(team: Team, *, as_tool: bool, calls: bool) -> Iterator[str]:
    """The form of an answer."""
    if as_tool:
        by = "by calling the tool" if calls else "with one JSON object of the form that you are given"
        yield (
            f"Answer {by}, with one entry for each agent; where a command has no location or "
            "no item, say `none`."
        )
        return
    name, example = agent_name(team.mine[0]), spell(team.mine[0], ("goto", "storage0"))
    yield (
        "You may think first, in a few sentences and without spelling commands. Then write the commands, "
        f"one a line, such as {example}; goto({name}, storage0) is read too."
    )


def form(seats: Sequence[int], *, as_tool: bool, calls: bool = True) -> list[str]:
    """The form of an answer once more, for a model whose answer could not be read; `calls` says that it can
    be told to call a tool."""
    if as_tool:
        by = "by calling the tool" if calls else "with one JSON object of the form that you are given"
        fields = "agent, verb, location and item, `none` where there is none"
        return [f"Answer {by}, with one entry for each agent: {fields}."]
    verbs = ", ".join(VERB_FORMS.values())
    lines = [spell(seat, ("goto", "storage0")) for seat in seats]
    return [
        f"Answer in this form only, one command a line under the word Commands, each one of {verbs}:",
        "Commands:",
        *lines,
    ]


def hints(brief: Brief) -> str:
    """Inference knowledge: how to keep out of the common errors (spec: Prompt)."""
    kinds = set(brief["locations"].values())
    return "\n".join(f"- {text}" for needs, text in _HINTS if kinds.issuperset(needs))


_HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    ((), "An agent must stand at a location before it can get, put or activate there: goto comes first."),
    ((), "An agent carries one item. With full hands it can neither get nor activate: put first."),
    ((), "An occupied tool can be neither filled, emptied nor activated: work elsewhere until it is free."),
    ((), "A full tool takes nothing more, and a finished product has to be taken out before the next."),
    ((), "Before you activate, everything that the recipe needs, and nothing else, has to be inside."),
    ((), "Never make waste: what was put into a tool comes out only as a product."),
    ((), "Fill a tool for one dish at a time; put only what belongs to that one recipe."),
    ((), "As soon as a dish is done, get it and bring it to the serving table: that is what counts."),
    ((), "Orders keep coming and run out: serve the most urgent one that can still be met first."),
    ((), "Let agents work side by side on different ingredients and tools, and do nothing twice."),
    ((), "Idle agents can prepare what next orders will need; a dish may wait on the serving table."),
    (("chopboard", "mixer"), "What is mixed, such as a salad, is often chopped on a chopboard before."),
    (("chopboard",), "Chopping occupies the agent too. The board holds one item: take the slices away."),
)
