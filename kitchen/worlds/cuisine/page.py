"""Build the play page of CuisineWorld: its panels, hints and guide.

All content is computed from the `SeatView` (all that one player may see).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from kitchen.contract.page import Beat, NoContent, Page, Panel, PublicFact
from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, SeatView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim, Command, Event, Json
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, ngettext
from kitchen.worlds.cuisine import task_graph
from kitchen.worlds.cuisine.action_menu import menu_panel
from kitchen.worlds.cuisine.activity_text import (
    credit_text,
    dishes_with_event,
    history_panel,
    intents_panel,
    spoken_panel,
    step_news,
)
from kitchen.worlds.cuisine.aim_pursuit import FREE
from kitchen.worlds.cuisine.display_text import (
    BriefLookup,
    KitchenWords,
    ShownItem,
    brief_lookup,
    hint_text,
    join_sentence,
    key_explanations,
    picture_of,
    steps_text,
    translated,
)
from kitchen.worlds.cuisine.kitchen_panels import floor_panel, places_panel, robots_panel
from kitchen.worlds.cuisine.onward_acts import act_that_begins
from kitchen.worlds.cuisine.order_jobs import SERVE
from kitchen.worlds.cuisine.order_tickets import orders_panel
from kitchen.worlds.cuisine.planner.instruction_answers import (
    example_sentences,
    example_text,
    guide_examples,
    translated_answer,
)
from kitchen.worlds.cuisine.serving_highlights import LEAST_ROW, highlight_lines, highlights_of


class RecipeLine(NamedTuple):
    """One line of a recipe: its ingredients, the tool, the time, and the product."""

    parts: tuple[ShownItem, ...]
    tool: ShownItem
    takes: str
    """Empty if it takes no time."""
    product: ShownItem


class ExampleTool(NamedTuple):
    """Pictures of tools for the guide: one with its first item inside, and one that works or is ready."""

    begun: RecipeLine
    working: RecipeLine
    busy: int


def _dish(dish: str, book: BriefLookup) -> dict[str, Json]:
    brief, words = book.brief, book.words
    task = task_graph.task_graph(dish, brief["recipes"])
    cooking = task_graph.task_graph(dish, brief["recipes"], serve=False)
    return {
        "code": dish,
        "name": words.name(dish),
        "icon": picture_of(dish),
        "lifetime": brief["lifetimes"][dish],
        "makings": list(dict.fromkeys(_making(*line, book) for line in reversed(book.recipes[dish]))),
        "graph": task_graph.graph_drawing(task, words, task_graph.LARGE_SIZE),
        "compact": task_graph.graph_drawing(cooking, words, task_graph.compact_size(cooking)),
        "outline": task_graph.graph_outline(dish, brief["recipes"], words),
        "uncookable": dish in brief["uncookable"],
    }


def _making(product: str, tool: str, parts: Sequence[str], book: BriefLookup) -> RecipeLine:
    busy = _busy(tool, book)
    takes = steps_text(busy) if busy else ""
    shown_tool = ShownItem(tool, book.words.name(tool))
    return RecipeLine(tuple(map(book.shown, parts)), shown_tool, takes, book.shown(product))


def _example(book: BriefLookup) -> ExampleTool:
    """Return two example tools for the guide, from the first dish that can be cooked. One takes the most
    ingredients, and the other works longest."""
    brief = book.brief
    dishes = [dish for dish in brief["dishes"] if dish not in brief["uncookable"]] or brief["dishes"]
    lines = book.recipes[dishes[0]]
    most = max(lines, key=lambda line: len(line[2]))
    longest = max(lines, key=lambda line: _busy(line[1], book))
    return ExampleTool(_making(*most, book), _making(*longest, book), max(_busy(longest[1], book), 1))


def _busy(tool: str, book: BriefLookup) -> int:
    busy: int = book.brief["tools"].get(tool, {}).get("busy", 0)
    return busy


_TEMPLATES = "worlds/cuisine"
REPLY_DISHES = 2
"""The number of ordered dishes about which the page offers a message to send with one press."""


class CuisinePage(Page):
    """Shows the kitchen as a drawing, as tables, or as both, with order tickets and task graphs."""

    views = (DRAWING_TABLES, DRAWING_ONLY)
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    title = gettext_lazy("The kitchen")
    body = gettext_lazy("robot")
    reference = f"{_TEMPLATES}/recipes.jinja"
    reference_title = gettext_lazy("Recipes")
    settings_differ = gettext_lazy(
        "You will play in different kitchens. The tools, dishes and times described here are for the "
        "first one. For each of the others, open the guide and the recipes beside the game."
    )
    styles = (
        "css/stage.css",
        "css/character_images.css",
        f"{_TEMPLATES}/cuisine.css",
        f"{_TEMPLATES}/cuisine_panels.css",
        f"{_TEMPLATES}/cuisine_chains.css",
        f"{_TEMPLATES}/cuisine_sizes.css",
        f"{_TEMPLATES}/cuisine_guide.css",
        f"{_TEMPLATES}/floor.css",
        f"{_TEMPLATES}/room.css",
    )
    drawings = ""
    cover = f"{_TEMPLATES}/cover.svg"
    scripts = ("js/stage.js", f"{_TEMPLATES}/guests.js", "js/motion.js")
    scene = "worlds/cuisine/scene.js"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels of the participant's page in reading order.

        The view decides whether they include the drawing, the tables or both, and the other robots' intents.
        """
        return _panels(view, ())

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels for a person who only watches: those of `panels` without the menu and the summary
        for narrow screens."""
        return _panels(view, (menu_panel, step_news))

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game as text: `The guests order salmon sushi and tuna sushi. …`"""
        text = gettext("The guests order {dishes}. An order that is not served in time is missed.")
        return text.format(dishes=brief_lookup(brief).words.items(brief["dishes"]))

    def public_facts(self, view: SeatView) -> tuple[PublicFact, ...]:
        """Return the open orders as text, the most urgent first: `Salmon sushi: 5 steps left`."""
        words = brief_lookup(view.brief).words
        orders = tuple(
            ngettext("{dish}: {number} step left", "{dish}: {number} steps left", order["life"]).format(
                dish=words.name(order["dish"]), number=order["life"]
            )
            for order in view.public_state["orders"]
        )
        return (PublicFact(gettext("Orders"), orders),)

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return the aim as an instruction: `Serve salmon sushi`, `Free pot 1`."""
        (kind, what), words = aim, brief_lookup(brief).words
        name = {"place": words.place(what)} if kind == FREE else {"item": words.mid(what)}
        return join_sentence(translated("aims", kind).format(**name))

    def aim_group(self, aim: Aim) -> str:
        """Return the heading under which the aim is listed. Aims of one kind share a heading."""
        return translated("aim_groups", aim[0])

    def wanted_aims(self, view: SeatView) -> Mapping[Aim, int]:
        """Return the aims to serve the dishes of the open orders, and the number of orders of each."""
        orders = (view.observation or view.public_state)["orders"]
        return Counter((SERVE, order["dish"]) for order in orders)

    def quick_replies(self, view: SeatView) -> tuple[str, ...]:
        """Return messages about the two most urgent ordered dishes, and a question that robots answer:
        `Salmon sushi first`, `What are you doing?`"""
        seen = view.observation or view.public_state
        orders = sorted(seen.get("orders", ()), key=lambda order: order["life"])
        dishes = [*dict.fromkeys(order["dish"] for order in orders)][:REPLY_DISHES]
        words = brief_lookup(view.brief).words
        first = (translated("replies", "first").format(dish=words.mid(dish)) for dish in dishes)
        return (*(text[:1].upper() + text[1:] for text in first), translated("replies", "doing"))

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the data of the guide: dishes with recipes, numbers about orders, keyboard keys, and
        example tools."""
        book = brief_lookup(brief)
        kinds = dict.fromkeys(brief["locations"].values())
        return {
            "title": brief["title"],
            "steps": brief["max_steps"],
            "robots": brief["agents"],
            "interval": brief["interval"],
            "max_orders": brief["max_orders"],
            "dishes": [_dish(dish, book) for dish in brief["dishes"]],
            "keys": key_explanations((kind, book.words.name(kind)) for kind in kinds),
            "boards": "chopboard" in kinds,
            "example": _example(book),
        }

    first_steps = (
        gettext_noop("Your robot is marked “you”. Hints about what to try next appear here."),
        gettext_noop("To go and to act is one step each. Look at what has changed."),
        gettext_noop("The number on the order shows how many steps it has left."),
    )
    beats = (
        Beat(
            "move",
            gettext_noop("Move"),
            gettext_noop("Follow the ring: click it, or press its letter and then Enter."),
            gettext_noop("Follow the ring: tap it."),
        ),
        Beat(
            "cook",
            gettext_noop("Cook"),
            gettext_noop("Bring what the dish needs to the tool, then use the tool."),
            gettext_noop("Bring what the dish needs to the tool, then use the tool."),
        ),
        Beat(
            "serve",
            gettext_noop("Serve"),
            gettext_noop("Carry the dish to the serving table before its order runs out."),
            gettext_noop("Carry the dish to the serving table before its order runs out."),
        ),
    )
    beat_of = {"fetch": "move", **dict.fromkeys(("bring", "start", "wait", "take"), "cook"), "serve": "serve"}
    aim = gettext_lazy("Practice ends when you have served one dish, or after {steps} steps.")
    marks = gettext_lazy(
        "A dot before an action: it is a useful next step for the orders. If nothing has a dot, wait."
    )
    missed = gettext_lazy("You have used all steps and no dish has been served. That is all right.")

    def highlights(
        self, brief: Mapping[str, Json], start: Mapping[str, Json], steps: Iterable[Sequence[Event]]
    ) -> tuple[str, ...]:
        """Return the most time to spare for each dish, the dishes served in a row, and those made
        together."""
        return highlight_lines(highlights_of(brief, start, steps), brief_lookup(brief))

    def reached(self, view: SeatView) -> str:
        """Return the message at the end of a successful practice: `Well done: you served salmon sushi.`"""
        if not (served := view.observation["delivered"]):
            return super().reached(view)
        dish = brief_lookup(view.brief).words.mid(served[-1])
        return gettext("Well done: you served {dish}.").format(dish=dish)

    def translated_message(self, message: TeamMessage) -> str:
        """Return an answer of the planner in the reader's language; empty for all other messages."""
        return translated_answer(message)

    def message_examples(self, view: SeatView) -> tuple[str, ...]:
        """Return an order to a co-player, a dish that comes first, and what the reader does, about the open
        orders. Empty if no co-player reads messages."""
        others = [player.seat for player in view.players if not player.is_you]
        if not (others and set(view.talk.addressees) - set(view.talk.unread) - set(view.talk.people)):
            return ()
        orders = [order["dish"] for order in (view.observation or view.public_state).get("orders", ())]
        words = brief_lookup(view.brief).words
        return tuple(example_text(words, *one) for one in example_sentences(view.brief, orders, others[0]))

    def guide_sentences(self, brief: Mapping[str, Json]) -> tuple[str, ...]:
        """Return examples of what the planner understands, about the first dish."""
        words = brief_lookup(brief).words
        return tuple(example_text(words, *one) for one in guide_examples(brief))

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """Return a hint to give this command: `Try this: go to storage to fetch rice for the salmon sushi.`

        `aim` is the purpose of the command, with the keys of `Advice.aim`.
        """
        act = act_that_begins(view, brief_lookup(view.brief), command, aim)
        return hint_text(view, command, aim, act.item if act and act.puts else "")

    def hinted_next(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> tuple[Command, ...]:
        """Return what the menu offers to do after this command, for this purpose."""
        act = act_that_begins(view, brief_lookup(view.brief), command, aim)
        return act.commands[1:] if act else ()

    def phrase(self, command: Command) -> str:
        """Return the command as text, such as `Go to pot 1`, with names made from the codes."""
        return KitchenWords().phrase(command)

    def plan_group(self, command: Command) -> str:
        """Return the heading of the command's verb in the menu."""
        return translated("verb_titles", command[0])

    def plan_facts(self, view: SeatView) -> str:
        """Return where the robot is, and whether it holds something."""
        me = view.observation["agents"][view.seat]
        return f"at={me['at']} hands={'full' if me['holds'] else 'empty'}"

    def plan_effect(self, view: SeatView, command: Command) -> tuple[str, str]:
        """Return what a command to plan needs and makes: the robot's place, and whether it holds
        something."""
        return _plan_effect(command[0], command[1] if len(command) > 1 else "")

    def worded(self, view: SeatView, command: Command) -> str:
        """Return the command as text with this kitchen's own names, such as `Take rice from storage`."""
        return brief_lookup(view.brief).words.phrase(command)


def _plan_effect(verb: str, place: str) -> tuple[str, str]:
    """Return (needs, makes) of a command as facts about the robot (`Page.plan_effect`)."""
    return {
        "goto": (f"at!={place}", f"at={place}"),
        "get": (f"at={place} hands=empty", f"at={place} hands=full"),
        "put": (f"at={place} hands=full", f"at={place} hands=empty"),
        "activate": (f"at={place} hands=empty", f"at={place}"),
    }.get(verb, ("", ""))


class OrderTotals(NamedTuple):
    """The numbers of served dishes and of missed orders."""

    completed: int
    failed: int
    news: str = ""
    """The number that the last step changed: `is-served` or `is-missed`. Empty for neither."""
    credit: str = ""
    """Who cooked and who served the dish of the last step, as a sentence."""
    row: int = 0
    """The number of dishes in a row without a missed order; 0 if it is below `LEAST_ROW`. After a missed
    order, only the last steps are counted, which the view has."""


class StepsLeft(NamedTuple):
    """The number of steps until the episode ends at the latest."""

    steps: int


class ServedCount(NamedTuple):
    """The number of times one dish was served, and whether it was served in the last step."""

    name: str
    icon: str
    times: int
    fresh: bool


def _done(view: SeatView, lookup: BriefLookup) -> Panel:
    seen, fresh = view.observation, dishes_with_event(view, "completed")
    served: Counter[str] = Counter(seen["delivered"])
    missed = "is-missed" if dishes_with_event(view, "failed") else ""
    credit = " ".join(filter(None, (credit_text(dish, view) for dish in fresh)))
    row = _dishes_in_a_row(view)
    total = OrderTotals(
        seen["completed"],
        seen["failed"],
        "is-served" if fresh else missed,
        credit,
        row if row >= LEAST_ROW else 0,
    )
    dishes = (
        Panel(
            f"served-{number}",
            f"{_TEMPLATES}/served.jinja",
            ServedCount(lookup.words.name(dish), picture_of(dish), served[dish], fresh[dish] > 0),
        )
        for dish, number in lookup.numbers.items()
    )
    left = StepsLeft(max(0, lookup.brief["max_steps"] - view.step))
    parts = (
        Panel("done-total", f"{_TEMPLATES}/total.jinja", total),
        Panel("done-left", f"{_TEMPLATES}/steps_left.jinja", left),
        *dishes,
    )
    return Panel("done", f"{_TEMPLATES}/done.jinja", NoContent(), parts=parts)


def _dishes_in_a_row(view: SeatView) -> int:
    """Return how many dishes were served since the last missed order. If an order was missed, only the
    steps in `view.history` count."""
    if not view.observation["failed"]:
        return int(view.observation["completed"])
    kinds = [event.kind for step in view.history for event in reversed(step.events)]
    return list(takewhile(lambda kind: kind != "failed", kinds)).count("completed")


_Make = Callable[[SeatView, BriefLookup], Panel]
_PANELS: tuple[_Make, ...] = (
    orders_panel,
    floor_panel,
    intents_panel,
    robots_panel,
    places_panel,
    history_panel,
    step_news,
    menu_panel,
    _done,
    spoken_panel,
)
_UNSEEN: Mapping[str, tuple[_Make, ...]] = {
    DRAWING_TABLES: (floor_panel, intents_panel),
    DRAWING_ONLY: (robots_panel, places_panel),
}


def _panels(view: SeatView, without: tuple[_Make, ...]) -> tuple[Panel, ...]:
    brief = brief_lookup(view.brief)
    unseen = (*without, *_UNSEEN.get(view.shown, ()), *(() if view.plans.shows_intents else (intents_panel,)))
    return tuple(make(view, brief) for make in _PANELS if make not in unseen)


PAGE = CuisinePage()
