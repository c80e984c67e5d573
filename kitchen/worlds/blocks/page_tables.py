"""Build the facts and tables that participants see in blocks: plans, recipes, places and orders.

They contain only what the participant's player may know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Json
from kitchen.pages.json_tables import Fact, Table
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, ngettext, pgettext
from kitchen.worlds.blocks.block_grid import AIR, squared_distance
from kitchen.worlds.blocks.blueprints import NO_BLOCK
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.page_words import VERBS


def counted_items(items: Mapping[str, int]) -> str:
    """Return items with their numbers as text, such as `3 wheat, 1 egg`; `none` if there are none."""
    listed = pgettext("between the things of a list", ", ").join(
        f"{amount} {item_words(item)}" for item, amount in items.items()
    )
    return listed or pgettext("there is no value", "none")


def knowledge_tables(brief: Mapping[str, Json]) -> Iterator[Table]:
    """Yield a table of the plan and a table of each recipe that the brief (the seat's unchanging
    facts) contains. Nothing is yielded for seats that may not know them."""
    if brief.get("plan"):
        rows = tuple(_step_row({"do": "craft", **step}) for step in brief["plan"])
        yield Table("plan", gettext("The plan"), _step_head(), rows)
    for target, steps in brief.get("recipes", {}).items():
        title = gettext("Recipe: {name}").format(name=item_words(target))
        yield Table(f"recipe-{target}", title, _step_head(), tuple(map(_step_row, steps)))


def joined_words(parts: Sequence[Json] | Iterator[str]) -> str:
    """Return parts of a text as a list in the participant's language, such as `walked 7, got 3 wheat`."""
    return pgettext("between the things of a list", ", ").join(map(str, parts))


def cell_text(cell: Sequence[int]) -> str:
    """Return a cell as text, counted from 1 as on the map: level, column and row."""
    column, level, row = (number + 1 for number in cell)
    return gettext("level {level}, column {column}, row {row}").format(level=level, row=row, column=column)


def distance_text(one: Sequence[int], other: Sequence[int]) -> str:
    """Return the straight distance of two cells as text, rounded to whole cells."""
    return f"{sqrt(squared_distance(one, other)):.0f}"


def order_texts(state: Mapping[str, Json]) -> list[str]:
    """Return the open orders of an observation or of the public state as texts: `cooked beef (3 steps
    left)`."""
    return [
        ngettext("{dish} ({n} step left)", "{dish} ({n} steps left)", order["steps_left"]).format(
            dish=item_words(order["dish"]), n=order["steps_left"]
        )
        for order in state["orders"]
    ]


def kitchen_facts(seen: Mapping[str, Json]) -> Iterator[Fact]:
    """Yield the open orders and the content of the furnace."""
    yield Fact(
        "orders", gettext("Orders"), joined_words(order_texts(seen)) or pgettext("there is no value", "none")
    )
    furnace = seen["furnace"]
    parts = [(item, amount) for item, amount in (furnace["input"], furnace["output"]) if amount]
    parts += [("oak_log", furnace["fuel"])] if furnace["fuel"] else []
    yield Fact("furnace", gettext("In the furnace"), counted_items(dict(parts)))


def _step_head() -> tuple[str, ...]:
    return "", gettext("From"), gettext("Workbench")


def _step_row(step: Mapping[str, Json]) -> tuple[str, ...]:
    made = f"{sentence_case(gettext(VERBS[step['do']]))}: {step['amount']} {item_words(step['makes'])}"
    if "needs" in step:
        source = counted_items(step["needs"])
    else:
        source = pgettext("between alternatives", " or ").join(map(item_words, step["from"]))
    return made, source, gettext("needed") if step.get("table") else ""


def level_table(seen: Mapping[str, Json], brief: Mapping[str, Json]) -> Table:
    """Return the lowest unfinished level of the building, seen from above. A letter is a right block, `+A` a
    missing one, and `-` a wrong one."""
    level, cells = seen["level"], {(x, z): each for x, z, *each in seen["differences"]}
    letter_of = {block: letter for letter, block in brief["blueprint"]["legend"].items()}

    def shown(x: int, z: int, letter: str) -> str:
        if (x, z) not in cells:
            return "" if letter == NO_BLOCK else letter
        wanted, present = cells[x, z]
        return f"+{letter_of[wanted]}" if present == AIR else "-"

    rows = brief["blueprint"]["levels"][level]
    head = ("", *(str(x) for x in range(1, len(rows[0]) + 1)))
    lines = tuple(
        (str(z + 1), *(shown(x, z, letter) for x, letter in enumerate(row))) for z, row in enumerate(rows)
    )
    title = gettext("Level {level} from above: +A is missing, - is wrong").format(level=level + 1)
    return Table("level", title, head, lines)


def missing_by_level(left: Sequence[int]) -> str:
    """Return how many blocks each unfinished level lacks, such as `level 1: 9, level 2: 7`."""
    text = gettext("level {level}: {n}")
    lines = [text.format(level=level, n=n) for level, n in enumerate(left, 1) if n]
    return joined_words(lines) or pgettext("there is no value", "none")


def legend_fact(brief: Mapping[str, Json]) -> Fact:
    """Return the block of each letter of the blueprint. The brief must contain the blueprint."""
    letters = brief["blueprint"]["legend"].items()
    legend = (f"{letter}: {item_words(code)}" for letter, code in letters)
    return Fact("legend", gettext("Letters of the blueprint"), joined_words(legend))


def blueprint_tables(brief: Mapping[str, Json]) -> Iterator[Table]:
    """Yield a table of letters for each level of the blueprint: rows from 1, columns from 1."""
    for level, rows in enumerate(brief.get("blueprint", {}).get("levels", ()), 1):
        head = ("", *(str(x) for x in range(1, len(rows[0]) + 1)))
        lines = tuple((str(z), *row) for z, row in enumerate(rows, 1))
        yield Table(f"level-{level}", gettext("Level {level}").format(level=level), head, lines)


def near_table(seen: Mapping[str, Json], named: Callable[[int], str]) -> Table:
    """Return the table of the blocks, animals and stations near a seat. `named` returns the name of a player
    by its number."""
    here = seen["at"]
    rows = [
        (
            item_words(each["kind"]),
            distance_text(here, each["at"]),
            cell_text(each["at"]),
            str(each["count"]),
        )
        for each in seen["near"]
    ]
    for each in seen["stations"]:
        user = each["used_by"]
        free = "1" if user is None else gettext("used by {name}").format(name=named(user + 1))
        rows.append((item_words(each["kind"]), distance_text(here, each["at"]), cell_text(each["at"]), free))
    head = ("", gettext("Distance"), gettext("Cell"), gettext("How many"))
    return Table("near", gettext("Near you"), head, tuple(rows))


def player_table(view: SeatView) -> Table:
    """Return the table of the other players' places."""
    seen = view.observation
    rows = tuple(
        (view.players[each["seat"]].name, distance_text(seen["at"], each["at"]), cell_text(each["at"]))
        for each in seen["seats"]
    )
    return Table("players", gettext("Players"), ("", gettext("Distance"), gettext("Cell")), rows)


def cook_table(view: SeatView) -> Table:
    """Return the table of the cooks in the kitchen: where each stands, and what it holds."""
    places = {tuple(cell): name for name, cell in view.brief["places"].items()}
    places |= {tuple(cell): kind for kind, cells in view.brief["things"].items() for cell in cells}
    rows = tuple(
        (
            view.players[each["seat"]].name,
            item_words(places[at]) if (at := tuple(each["at"])) in places else cell_text(at),
            counted_items(each["holds"]),
        )
        for each in view.observation["players"]
    )
    return Table("players", gettext("Players"), ("", gettext("Stands at"), gettext("Holds")), rows)
