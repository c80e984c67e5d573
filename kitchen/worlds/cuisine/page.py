"""CuisineWorld in a browser: which panels there are, and the guide. Plain Python, no Django.

Everything here follows from the `SeatView` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kitchen.contract.page import DRAWN, TABLES, Nothing, Page, Panel, SeatView
from kitchen.contract.world import Aim, Command, Json
from kitchen.words.speech import gettext, marked, read_later
from kitchen.worlds.cuisine.asking import GROUPS, aimed, goal
from kitchen.worlds.cuisine.floor import floor
from kitchen.worlds.cuisine.handbook import handbook
from kitchen.worlds.cuisine.hint import hint
from kitchen.worlds.cuisine.intents import intents
from kitchen.worlds.cuisine.known import Known, known
from kitchen.worlds.cuisine.menu import menu
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.story import happened_to, news, spoken, story
from kitchen.worlds.cuisine.tables import locations, robots
from kitchen.worlds.cuisine.tickets import orders
from kitchen.worlds.cuisine.words import Words

_TEMPLATES = "worlds/cuisine"


class CuisinePage(Page):
    """The kitchen as a drawing, and the table form of the paper's page; with tickets and task graphs."""

    views = (TABLES, DRAWN)
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    title = read_later("The kitchen")
    body = read_later("robot")
    reference = f"{_TEMPLATES}/recipes.jinja"
    reference_title = read_later("Recipes")
    settings_differ = read_later(
        "You will play in different kitchens. What is said here of tools, dishes and times holds for the "
        "first one; in each of the others, the guide and the recipes that you can open beside the game are "
        "what counts there."
    )
    styles = ("css/stage.css", f"{_TEMPLATES}/cuisine.css", f"{_TEMPLATES}/floor.css")
    scripts = ("js/stage.js", "js/motion.js")
    scene = "worlds/cuisine/scene.js"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Orders, floor, intents, robots, locations, happened, news, menu, done, spoken: in reading order,
        those that are shown."""
        brief = known(view.brief)
        makes = (make for make in _PANELS if make not in _UNSEEN.get(view.shown, ()))
        return tuple(make(view, brief) for make in makes if make is not intents or view.shows_intents)

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """The same without the menu, and the line of news beside it."""
        brief, unseen = known(view.brief), (menu, news, *_UNSEEN.get(view.shown, ()))
        makes = (make for make in _PANELS if make not in unseen)
        return tuple(make(view, brief) for make in makes if make is not intents or view.shows_intents)

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Which dishes are ordered, and how long an order waits."""
        return goal(known(brief).words, brief)

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """`Serve salmon sushi`, `Free pot 1`."""
        return aimed(known(brief).words, aim)

    def aim_group(self, aim: Aim) -> str:
        """By what is to be done."""
        return gettext(GROUPS[aim[0]])

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Dishes with their recipes, orders in numbers, an example of a kitchen."""
        return handbook(brief)

    first_steps = (
        marked("Your robot is marked “you”. What to try next is said here."),
        marked("Each action is one step. Look at what it has changed."),
        marked("The number on the order says in how many steps it runs out."),
    )
    aim = read_later("Practice ends when you have served one dish, or after {steps} steps.")
    missed = read_later("You have used all steps, and no dish was served yet. That is all right.")

    def reached(self, view: SeatView) -> str:
        """`Well done: you served salmon sushi.`"""
        if not (served := view.observation["delivered"]):
            return super().reached(view)
        return gettext("Well done: you served {dish}.").format(dish=known(view.brief).words.mid(served[-1]))

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """`Try this: go to storage to fetch rice for the salmon sushi.`"""
        return hint(view, command, aim)

    def phrase(self, command: Command) -> str:
        """The command in words: `Go to pot 1`."""
        return Words().phrase(command)

    def worded(self, view: SeatView, command: Command) -> str:
        """The same with the names of this kitchen: `Take rice from storage`."""
        return known(view.brief).words.phrase(command)


class Total(NamedTuple):
    """How many dishes were served, and how many orders were missed."""

    completed: int
    failed: int


class Served(NamedTuple):
    """How often one dish was served, and whether it was just now."""

    name: str
    icon: str
    times: int
    fresh: bool


class Spoken(NamedTuple):
    """What a screen reader says of a step."""

    text: str


def _done(view: SeatView, known: Known) -> Panel:
    seen, fresh = view.observation, happened_to(view, "completed")
    served: Counter[str] = Counter(seen["delivered"])
    total = Total(seen["completed"], seen["failed"])
    dishes = (
        Panel(
            f"served-{number}",
            f"{_TEMPLATES}/served.jinja",
            Served(known.words.name(dish), icon(dish), served[dish], fresh[dish] > 0),
        )
        for dish, number in known.numbers.items()
    )
    parts = (Panel("done-total", f"{_TEMPLATES}/total.jinja", total), *dishes)
    return Panel("done", f"{_TEMPLATES}/done.jinja", Nothing(), parts=parts)


def _spoken(view: SeatView, known: Known) -> Panel:
    return Panel("spoken", f"{_TEMPLATES}/spoken.jinja", Spoken(spoken(view, known.words)))


_Make = Callable[[SeatView, Known], Panel]
_PANELS: tuple[_Make, ...] = (
    orders,
    floor,
    intents,
    robots,
    locations,
    story,
    news,
    menu,
    _done,
    _spoken,
)
_UNSEEN: Mapping[str, tuple[_Make, ...]] = {TABLES: (floor, intents), DRAWN: (robots, locations)}


PAGE = CuisinePage()
