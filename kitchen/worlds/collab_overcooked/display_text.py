"""Translate things, commands, refusal codes and recipes of Collab-Overcooked into texts for participants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kitchen.contract.world import Command, Json
from kitchen.words.english_text import code_to_words, sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext, pgettext
from kitchen.worlds.collab_overcooked.cook_aims import BRING, PUT_IN, SERVE
from kitchen.worlds.collab_overcooked.food_rules import BOARD, IN_DISH, POT, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP, STARTED_BY, WAIT, is_step_count
from kitchen.worlds.collab_overcooked.room_layout import COUNTER, DISPENSERS

NAMES: Mapping[str, str] = {
    "apple": gettext_noop("apple"),
    "carrot": gettext_noop("carrot"),
    "onion": gettext_noop("onion"),
    "potato": gettext_noop("potato"),
    "tofu": gettext_noop("tofu"),
    "bell_pepper": gettext_noop("bell pepper"),
    "sweet_potato": gettext_noop("sweet potato"),
    "egg": gettext_noop("egg"),
    "mushroom": gettext_noop("mushroom"),
    "pumpkin": gettext_noop("pumpkin"),
    "corn": gettext_noop("corn"),
    "green_bean": gettext_noop("green bean"),
    "lentil": gettext_noop("lentil"),
    "eggplant": gettext_noop("eggplant"),
    "chickpea": gettext_noop("chickpea"),
    "zucchini": gettext_noop("zucchini"),
    "beef": gettext_noop("beef"),
    "peanut": gettext_noop("peanut"),
    "chicken": gettext_noop("chicken"),
    "spinach": gettext_noop("spinach"),
    "coconut": gettext_noop("coconut"),
    "broccoli": gettext_noop("broccoli"),
    "bean": gettext_noop("bean"),
    "cauliflower": gettext_noop("cauliflower"),
    "pea": gettext_noop("pea"),
    "romaine_lettuce": gettext_noop("romaine lettuce"),
    "tomato": gettext_noop("tomato"),
    "taro": gettext_noop("taro"),
    "green_pea": gettext_noop("green pea"),
    "dish": gettext_noop("dish"),
    "pot0": gettext_noop("pot"),
    "oven0": gettext_noop("oven"),
    "chopping_board0": gettext_noop("chopping board"),
    "blender0": gettext_noop("blender"),
    "counter": gettext_noop("counter"),
    "ingredient_dispenser": gettext_noop("ingredients"),
    "dish_dispenser": gettext_noop("dishes"),
}
"""Ingredients and places in words."""
PRODUCT_NAMES: Mapping[str, str] = {
    "{0}_slices": gettext_noop("{0} slices"),
    "boiled_{0}": gettext_noop("boiled {0}"),
    "boiled_{0}_slices": gettext_noop("boiled {0} slices"),
    "baked_{0}": gettext_noop("baked {0}"),
    "baked_{0}_slices": gettext_noop("baked {0} slices"),
    "mashed_{0}": gettext_noop("mashed {0}"),
    "baked_{0}_soup": gettext_noop("baked {0} soup"),
    "sliced_{0}_and_{1}_stew": gettext_noop("{0} and {1} stew"),
    "mashed_{0}_and_{1}_patty": gettext_noop("{0} and {1} patty"),
    "{0}_{1}_and_{2}_patty": gettext_noop("{0}, {1} and {2} patty"),
}
"""Products in words, by the pattern of their code."""
COMMAND_WORDS: Mapping[str, str] = {
    "pickup": gettext_noop("Take {0} out of the {1}"),
    "pickup counter": gettext_noop("Take {0} from a counter"),
    "pickup chopping_board0": gettext_noop("Take {0} from the {1}"),
    "pickup ingredient_dispenser": gettext_noop("Fetch {0}"),
    "pickup dish_dispenser": gettext_noop("Fetch a dish"),
    "put_obj_in_utensil": gettext_noop("Put it into the {0}"),
    "put_obj_in_utensil chopping_board0": gettext_noop("Put it onto the {0}"),
    "cook": gettext_noop("Cook in the {0}"),
    "bake": gettext_noop("Bake in the {0}"),
    "cut": gettext_noop("Cut on the {0}"),
    "stir": gettext_noop("Blend in the {0}"),
    "place_obj_on_counter": gettext_noop("Put it on a counter"),
    "fill_dish_with_food": gettext_noop("Fill the dish from the {0}"),
    "deliver": gettext_noop("Deliver it"),
    "go_on": gettext_noop("Continue, or stay for one step"),
}
VERB_WORDS: Mapping[str, str] = {
    "pickup": gettext_noop("take"),
    "put_obj_in_utensil": gettext_noop("put into"),
    "cook": gettext_noop("cooking"),
    "bake": gettext_noop("baking"),
    "cut": gettext_noop("cutting"),
    "stir": gettext_noop("blending"),
    "fill_dish_with_food": gettext_noop("fill the dish"),
    WAIT: gettext_noop("wait"),
}
FETCH = "fetch"
"""The code of the first word of macros that take something from a dispenser."""
PICKER_WORDS: Mapping[str, str] = {
    "pickup": gettext_noop("Take"),
    "pickup ingredient_dispenser": gettext_noop("Fetch"),
    "pickup dish_dispenser": gettext_noop("Fetch"),
    "put_obj_in_utensil": gettext_noop("Put it into the"),
    "put_obj_in_utensil chopping_board0": gettext_noop("Put it onto the"),
    "fill_dish_with_food": gettext_noop("Fill the dish from the"),
}
"""First words of `COMMAND_WORDS`, as a picker lists them before the thing."""
FROM_PLACE: Mapping[str, str] = {
    COUNTER: gettext_noop("From a counter"),
    BOARD: gettext_noop("From the {0}"),
    POT: gettext_noop("Out of the {0}"),
}
"""Last words of a macro in a picker, by place. Other utensils read as the pot."""
AIM_WORDS: Mapping[str, str] = {
    BRING: gettext_noop("Put {0} on a shared counter"),
    PUT_IN: gettext_noop("Put {0} into the {1}"),
    f"{PUT_IN} {BOARD}": gettext_noop("Put {0} onto the {1}"),
    SERVE: gettext_noop("Deliver what is in the {0}"),
    **{verb: COMMAND_WORDS[verb] for verb in STARTED_BY},
}
"""Aims in words, by kind."""
AIM_GROUPS: Mapping[str, str] = {
    BRING: gettext_noop("Bring to a shared counter"),
    PUT_IN: gettext_noop("Put into a utensil"),
    SERVE: gettext_noop("Deliver"),
    **dict.fromkeys(STARTED_BY, gettext_noop("Start a utensil")),
}
"""Headings of aims, by kind."""
REASON_WORDS: Mapping[str, str] = {
    "unknown_verb": gettext_noop("there is no such action"),
    "wrong_arguments": gettext_noop("the thing or the place is missing or wrong"),
    "parenthesis_missing": gettext_noop("a parenthesis is missing"),
    "wait_too_long": gettext_noop("a wait has at most 5 steps"),
    "busy": gettext_noop("another action is still in progress"),
    "other_cook": gettext_noop("this is an action of the other cook"),
    "unknown_object": gettext_noop("there is no such thing"),
    "unknown_place": gettext_noop("there is no such place for it"),
    "not_raw": gettext_noop("only raw ingredients and dishes are kept there"),
    "wrong_dispenser": gettext_noop("it is kept in the other place"),
    "utensil_busy": gettext_noop("it is still running"),
    "utensil_ready": gettext_noop("something ready is still inside"),
    "utensil_empty": gettext_noop("nothing is inside"),
    "utensil_full": gettext_noop("three things are inside already"),
    "needs_dish": gettext_noop("it has to be filled into a dish"),
    "not_there": gettext_noop("it lies on no counter"),
    "not_reachable": gettext_noop("it is in the other room"),
    "hands_full": gettext_noop("the cook's hands are full"),
    "hands_empty": gettext_noop("the cook's hands are empty"),
    "not_in_utensil": gettext_noop("it is not in there"),
    "dish_in_utensil": gettext_noop("this does not go into a utensil"),
    "wrong_utensil": gettext_noop("this action belongs to another utensil"),
    "no_free_counter": gettext_noop("no counter is free"),
    "no_dish_needed": gettext_noop("this order is served without a dish"),
    "no_dish_in_hand": gettext_noop("the cook holds no empty dish"),
    "not_cooking": gettext_noop("nothing is cooking in there"),
    "not_food": gettext_noop("this food is not prepared yet"),
}
"""Why a macro was refused, by code."""
JOB_WORDS: Mapping[str, str] = {
    "chopping_board0": gettext_noop("Cut on the chopping board: {things}"),
    "pot0": gettext_noop("Cook in the pot: {things}"),
    "oven0": gettext_noop("Bake in the oven: {things}"),
    "blender0": gettext_noop("Blend in the blender: {things}"),
}
"""The jobs of a recipe, by utensil."""


STAND_IN_SENTENCES: Mapping[str, str] = {
    "do_this": gettext_noop("Please do this: {actions}."),
    "still_need": gettext_noop("I still need this: {actions}."),
    "thanks_ahead": gettext_noop("Well thought, I can use it: {things}!"),
    "thanks_again": gettext_noop("You know what I need before I say it: {things}!"),
    "good_choice": gettext_noop("Good choice, so I could go on at once: {things}."),
    "you_choose": gettext_noop("As you like. Do first what you think is best."),
    "cannot_use": gettext_noop("I cannot use it like this: {things}."),
    "will_do": gettext_noop("I will do this: {actions}."),
    "will_do_once": gettext_noop("I will do this: {actions}. I bring one at a time: ask again for more."),
    "not_yet": gettext_noop("I cannot do this yet: {actions}."),
    "not_now": gettext_noop("Not now, sorry: I do not see what it is for. If you need it, ask me again."),
    "gives_up": gettext_noop("I have waited long enough, so I leave this: {actions}."),
    "nothing_now": gettext_noop("I need nothing from you now. I will ask you when I do."),
    "who_i_am": gettext_noop("I am the chef. I have the recipe, and I ask you for what I need."),
    "keeps_recipe": gettext_noop(
        "I do not read out the recipe. I ask you for one thing after the other. You can ask me: “What should "
        "I do next?”"
    ),
    "chef_help": gettext_noop(
        "Press “Do this” when I ask for something. You can ask me: “What should I do next?” or “What are you "
        "doing?”"
    ),
    "chef_cannot": gettext_noop("I cannot do that: I follow the recipe. I ask you for what I need."),
    "asked_already": gettext_noop("Please do what I asked for last."),
    "finish_first": gettext_noop("Finish what you are doing. Then I will ask for the next thing."),
    "chef_waits": gettext_noop("I am waiting."),
    "chef_unclear": gettext_noop(
        "I did not understand that. You can ask me, for example: “What should I do next?”"
    ),
    "will_ask": gettext_noop("I follow the recipe. I will ask you when I need something."),
    "only_requests": gettext_noop(
        "I did not understand that. Tell me what to bring, for example: “bring an egg”, “cut a potato” or "
        "“bring a plate”. Or add actions to a request."
    ),
    "help": gettext_noop("You can write, for example: “bring an egg”, “cut a potato” or “stop”."),
    "stops": gettext_noop("I stop, and wait for your next request."),
    "leaves_out": gettext_noop("I leave that out."),
    "all_right": gettext_noop("All right."),
    "no_request": gettext_noop("I have nothing to do. Tell me what to bring."),
}
"""The sentences of the stand-in, by code. A message of the stand-in has the code in its data."""


def stand_in_sentence(
    code: str, macros: Iterable[Command] = (), name: str = "", use: str = "", why: str = ""
) -> str:
    """Return the sentence of `STAND_IN_SENTENCES` with this code about these commands. `name` is a short name
    for all of them; without it, they are listed. A sentence about things names what the commands take. `use`
    is what they are needed for (`use_words`), and `why` the reason why they are not possible, as a code."""
    listed = tuple(macros)
    things = list_words(macro[1] for macro in listed if macro[0] == PICKUP)
    actions = name or commands_words(listed)
    actions = f"{actions} ({use_words(use)})" if use else actions
    actions = f"{actions} ({gettext(REASON_WORDS[why])})" if why in REASON_WORDS else actions
    return gettext(STAND_IN_SENTENCES[code]).format(actions=actions, things=things)


SERVE_USE = "serve"
"""The use of a thing that the chef takes for serving, such as a dish."""


def use_words(use: str) -> str:
    """Return what the chef needs a thing for, as text: a utensil, or `SERVE_USE`. Empty if it is not said."""
    if use == SERVE_USE:
        return gettext("to serve in")
    return gettext("for the {utensil}").format(utensil=thing_words(use)) if use else ""


def thing_words(thing: Json) -> str:
    """Return the name of a thing for participants: `baked potato slices`, `pumpkin soup in a dish`,
    `nothing`."""
    if thing is None:
        return pgettext("what somebody holds", "nothing")
    code = str(thing)
    if code.endswith(IN_DISH):
        return gettext("{thing} in a dish").format(thing=thing_words(code.removesuffix(IN_DISH)))
    if code in NAMES:
        return gettext(NAMES[code])
    pattern, names = food_rules().patterns.get(code, ("", ()))
    if pattern not in PRODUCT_NAMES:
        return code_to_words(code)
    return gettext(PRODUCT_NAMES[pattern]).format(*map(thing_words, names))


def list_words(things: Iterable[Json]) -> str:
    """Return the names of things, separated by commas."""
    return ", ".join(map(thing_words, things))


def command_words(command: Command) -> str:
    """Return a command as a text for participants: `Take potato from a counter`. Empty for an empty
    command."""
    if not command:
        return ""
    verb, *arguments = command
    if verb == WAIT:
        if not arguments or not is_step_count(arguments[0]):
            return gettext("Wait this many steps")
        return ngettext("Wait {count} step", "Wait {count} steps", int(arguments[0])).format(
            count=arguments[0]
        )
    if verb not in COMMAND_WORDS:
        return " ".join(command)
    words = [*map(thing_words, arguments), "…", "…"]
    special = f"{verb} {arguments[-1]}" if arguments else verb
    return gettext(COMMAND_WORDS.get(special, COMMAND_WORDS[verb])).format(*words)


def commands_words(commands: Iterable[Command]) -> str:
    """Return several commands as one text: `Fetch potato; Put it on a counter`."""
    return "; ".join(map(command_words, commands))


def picker_words(macro: Command) -> tuple[tuple[str, str], ...]:
    """Return the entries that a person picks, one from each of up to three lists, to compose this macro.
    Each entry is a pair (code, text). For example, the texts `Take`, `Potato` and `From a counter` compose
    a pickup. Joined, the texts read like `command_words`. A macro without a thing to choose has a single
    entry."""
    verb = macro[0]
    special = " ".join((verb, macro[-1]))
    first = PICKER_WORDS.get(special, PICKER_WORDS.get(verb))
    if first is None:
        return ((" ".join(macro), command_words(macro)),)
    fetches = macro[-1] in DISPENSERS
    code = FETCH if fetches else special if special in PICKER_WORDS else verb
    words = [(code, gettext(first)), (macro[1], sentence_case(thing_words(macro[1])))]
    if verb == PICKUP and not fetches:
        text = gettext(FROM_PLACE.get(macro[2], "Out of the {0}"))
        words.append((macro[2], text.format(thing_words(macro[2]))))
    return tuple(words)


def utensil_words(entry: Mapping[str, Json]) -> str:
    """Return a text about a utensil of the observation: what is inside, and whether it runs or is ready."""
    if entry["ready"]:
        return gettext("ready: {thing}").format(thing=thing_words(entry["ready"]))
    if not entry["contents"]:
        return gettext("empty")
    inside = list_words(entry["contents"])
    if entry["left"] is not None:
        text = ngettext("{things}; ready in {count} step", "{things}; ready in {count} steps", entry["left"])
        return text.format(things=inside, count=entry["left"])
    return gettext(FIT_WORDS[entry["fit"]]).format(things=inside)


FIT_WORDS: Mapping[str, str] = {
    "all": gettext_noop("{things}; can be started"),
    "part": gettext_noop("{things}; something is missing"),
    "none": gettext_noop("{things}; this makes nothing"),
}
"""Texts for whether the contents of a utensil make something."""


def recipe_steps(brief: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the steps of the recipe as texts; empty for a seat that does not know the recipe."""
    if "recipe" not in brief:
        return ()
    jobs = (
        gettext(JOB_WORDS[utensil]).format(things=list_words(contents))
        for utensil, _, *contents in brief["recipe"]["steps"]
    )
    last = (
        gettext("Fill it into a dish and deliver it")
        if brief["in_dish"]
        else gettext("Deliver it: it needs no dish")
    )
    return (*jobs, last)


def doing_words(player: Mapping[str, Json]) -> str:
    """Return a text about the macro that a cook of the observation is carrying out, or that the cook is
    ready."""
    return command_words(tuple(player["doing"])) if player["doing"] else gettext("Ready for the next action")
