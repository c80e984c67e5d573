"""Build the play pages of the five worlds of blocks.

A page shows a drawn map, and the same facts as text and tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel, PublicFact
from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, SeatView
from kitchen.contract.world import Aim, Command, Json
from kitchen.pages.json_tables import Fact, FactsAndTables, Table
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext
from kitchen.worlds.blocks.block_aims import DELIVER, OBTAIN, gather_share
from kitchen.worlds.blocks.block_grid import AIR
from kitchen.worlds.blocks.blueprint_pieces import BlueprintPiece
from kitchen.worlds.blocks.building_progress import progress_panel
from kitchen.worlds.blocks.construction_world import BY_BLOCK, KNOWN_BY
from kitchen.worlds.blocks.goal_cards import goal_panel
from kitchen.worlds.blocks.goal_outcome import goal_outcome
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.lesson_hints import with_lesson
from kitchen.worlds.blocks.map_panels import command_spots, map_panels
from kitchen.worlds.blocks.page_tables import (
    blueprint_tables,
    cook_table,
    counted_items,
    joined_words,
    kitchen_facts,
    knowledge_tables,
    legend_fact,
    level_table,
    missing_by_level,
    near_table,
    order_texts,
    player_table,
)
from kitchen.worlds.blocks.page_words import (
    LOST,
    LOST_BY,
)
from kitchen.worlds.blocks.partner_wait import partner_wait_panel
from kitchen.worlds.blocks.planner_messages import placing_words
from kitchen.worlds.blocks.suggested_requests import suggested_requests
from kitchen.worlds.blocks.worded_page import WordedPage

_TEMPLATES = "worlds/blocks"
_SCRIPTS = (
    *("block_pictures", "map_blocks", "cell_words", "map_camera", "map_labels", "map_spots", "builder_deeds"),
    *("block_hotbar", "block_owners", "cell_actions", "block_queue", "block_asking", "map_scenery"),
    *("map_depth", "ghost_building", "block_landing", "day_clock", "map_painting", "building_party"),
    *("building_finish", "map_pointing", "map_lines", "map_tools", "map"),
)
"""The scripts of the map, in the order in which they use each other."""
AT_A_TIME = 10
"""Blocks that a suggested request asks for."""


class KnownContent(NamedTuple):
    """Beside the map: facts, and the plan."""

    facts: tuple[Fact, ...]
    tables: tuple[Table, ...]


class BlocksPage(WordedPage):
    """The page of a world of blocks. It shows what one seat knows on a map, and as facts and tables."""

    views = (DRAWING_TABLES, DRAWING_ONLY)
    cover = f"{_TEMPLATES}/cover.webp"
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    styles = (
        *(*WordedPage.styles, "css/stage.css"),
        *(f"{_TEMPLATES}/{name}.css" for name in ("map", "hotbar_and_goals", "map_layout")),
    )
    scripts = (
        *WordedPage.scripts,
        *(f"{_TEMPLATES}/{name}.js" for name in _SCRIPTS),
        "js/stage.js",
        f"{_TEMPLATES}/partner_wait.js",
    )

    # Goals, hints and requests

    def outcome(self, view: SeatView) -> str:
        """Return a heading that tells whether the goal was reached, and what was missing if not."""
        return goal_outcome(view, self.named)

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """Return a hint that recommends this command, and an invitation to write or to give."""
        return with_lesson(super().hint(view, command, aim), view, self.message_examples(view))

    def hint_without_advice(self, view: SeatView) -> str:
        """Return the general hint, and an invitation to write or to give."""
        return with_lesson(super().hint_without_advice(view), view, self.message_examples(view))

    def message_examples(self, view: SeatView) -> tuple[str, ...]:
        """Return requests and questions about the building that the planner understands. A request to place
        blocks names cells of the reader's own blueprint. Empty without a building, or if nobody reads."""
        brief, seen = view.brief, view.observation
        if not (set(view.talk.addressees) - set(view.talk.unread) and "build" in brief and seen):
            return ()
        held = gettext("What do you have?")
        if self._lacks_blueprint(brief):
            return gettext("What do you need?"), gettext("What goes on level 1?"), held
        suggested = suggested_requests(view) if brief.get(KNOWN_BY) else ()
        return *suggested, *self._gift_requests(view), held

    def _gift_requests(self, view: SeatView) -> Iterator[str]:
        """Yield a request for everything that the others hold. Where people build block by block, it is one
        for some of the material that is lacked at the lowest unfinished level."""
        if not view.brief.get(BY_BLOCK):
            yield gettext("Give me everything.")
            return
        lacking = {block for _, _, block, _ in view.observation["differences"]} - {AIR}
        for item in sorted(lacking - view.observation["inventory"].keys())[:1]:
            yield gettext("Give me {items}.").format(items=counted_items({item: AT_A_TIME}))

    def guide_sentences(self, brief: Mapping[str, Json]) -> tuple[str, ...]:
        """Return requests and questions that the planner understands. Empty in the kitchen, whose dispatcher
        understands other ones."""
        if "orders" in brief or "interval" in brief:
            return ()
        builds = "build" in brief
        place = BlueprintPiece("stone", 0, (1, 1), (0, 2))
        building = (placing_words(place), gettext("What goes on level 1?"), gettext("What do you need?"))
        always = (
            *(gettext("Give me everything."), gettext("What do you have?"), gettext("What are you doing?")),
            *(gettext("Stop"), gettext("Go on"), gettext("Never mind")),
        )
        return (*(building if builds else ()), *always)

    def places(self, command: Command, view: SeatView) -> str:
        """Return the ids of the map's spots that a command refers to."""
        return "" if view.shown == DRAWING_TABLES else command_spots(command, view)

    # What is seen

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels of the page. Those of the map are included if it is shown."""
        return (*super().panels(view), *self._drawing(view), partner_wait_panel(view))

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels of the page without the menu."""
        return (*super().overview(view), *self._drawing(view))

    def _drawing(self, view: SeatView) -> tuple[Panel, ...]:
        if view.shown == DRAWING_TABLES:
            return ()
        goal, left, *others = (
            fact for fact in self._facts(view) if fact.code not in ("held", "legend", "orders")
        )
        known = KnownContent(tuple(others), tuple(knowledge_tables(view.brief)))
        head = FactsAndTables((goal, left), ())
        return (
            Panel("map-head", "kitchen/pages/seen.jinja", head),
            goal_panel(view),
            progress_panel(view),
            *map_panels(view),
            Panel("known", f"{_TEMPLATES}/known.jinja", known),
        )

    def seen_panel(self, view: SeatView) -> Panel:
        """Return the panel with the facts and tables that the seat knows now."""
        seen = view.observation
        facts = tuple(self._facts(view)) if seen else ()
        return super().seen_panel(view)._replace(shows=FactsAndTables(facts, tuple(self._tables(view))))

    def seen(self, view: SeatView) -> Mapping[str, Json]:
        """Return an empty mapping, because `seen_panel` already shows the whole observation."""
        return {}

    def _facts(self, view: SeatView) -> Iterator[Fact]:
        seen, brief = view.observation, view.brief
        yield Fact("goal", gettext("Your goal"), self._goal_and_guidance(view))
        left = seen["steps_left"]
        yield Fact("left", gettext("Time left"), ngettext("{n} step", "{n} steps", left).format(n=left))
        if "inventory" in seen:
            yield from self._own_facts(view)
        if "furnace" in seen:
            yield from kitchen_facts(seen)
        if "chest" in seen:
            yield Fact("chest", gettext("In the chest"), counted_items(seen["chest"]))
        if "left_by_level" in seen:
            yield Fact("site", gettext("Blocks still missing"), missing_by_level(seen["left_by_level"]))
            yield legend_fact(brief)

    def _goal_and_guidance(self, view: SeatView) -> str:
        """Return the goal. Where each player knows the other's recipe, and this one can write, it invites to
        do so."""
        goal, guidance = self.goal(view.brief), gettext("Guide each other with words.")
        return f"{goal} {guidance}" if view.brief.get("each_their_own") and view.talk.addressees else goal

    def _own_facts(self, view: SeatView) -> Iterator[Fact]:
        seen = view.observation
        yield Fact("held", gettext("You hold"), counted_items(seen["inventory"]))
        doing, steps = seen["doing"], seen["steps_of_doing"]
        words = self.worded(view, tuple(doing)) if doing else gettext("nothing")
        if steps:
            words += f" ({ngettext('{n} more step', '{n} more steps', steps).format(n=steps)})"
        yield Fact("doing", gettext("You are doing"), words)
        yield Fact("since", gettext("Since your last choice"), self._since_words(view))

    def _since_words(self, view: SeatView) -> str:
        """Return a text about the effect of the last command, such as `walked 7, got 3 wheat`."""
        since = view.observation["since"]
        if not since["command"]:
            return gettext("the game has begun")
        parts, verb = [], since["command"][0]
        if since["walked"]:
            parts.append(gettext("walked {n}").format(n=since["walked"]))
        if since["gained"]:
            parts.append(gettext("got {items}").format(items=counted_items(since["gained"])))
        if since["lost"]:
            lost = gettext(LOST_BY.get(verb, LOST))
            parts.append(lost.format(items=counted_items(since["lost"])))
        happened = joined_words(parts) or gettext("nothing")
        return f"{self.worded(view, tuple(since['command']))}: {happened}"

    def _tables(self, view: SeatView) -> Iterator[Table]:
        seen = view.observation
        if seen.get("differences"):
            yield level_table(seen, view.brief)
        if "players" in seen:
            yield cook_table(view)
        if "near" in seen:
            if seen["near"] or seen["stations"]:
                yield near_table(seen, self.named)
            yield player_table(view)
        yield from knowledge_tables(view.brief)

    # The guide

    def brief_before_games(self, briefs: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
        """Return the first brief, without its blueprint if the games differ in it. A blueprint then stands
        only beside the games whose player may know it."""
        first, *others = briefs
        if all(other.get("blueprint") == first.get("blueprint") for other in others):
            return first
        kept = {name: value for name, value in first.items() if name not in ("blueprint", KNOWN_BY)}
        return {**kept, "blueprints_differ": True}

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the content of the guide: the rules, the goal, the plan, the recipes and the blueprint."""
        limit = brief.get("limit", brief.get("steps", 0))
        first = _GOAL_WITHOUT_BLUEPRINT if self._lacks_blueprint(brief) else self.rules[0]
        facts = [
            Fact("goal", gettext("The goal"), self.goal(brief)),
            Fact("limit", gettext("Longest time"), ngettext("{n} step", "{n} steps", limit).format(n=limit)),
        ]
        if "blueprint" in brief:
            facts.append(legend_fact(brief))
        return {
            "rules": [gettext(text) for text in (first, *self._further_rules(brief))],
            "facts": facts,
            "tables": [*knowledge_tables(brief), *blueprint_tables(brief)],
            "body": self.body,
        }

    def _further_rules(self, brief: Mapping[str, Json]) -> Sequence[str]:
        if not brief.get(BY_BLOCK):
            return self.rules[1:]
        rules = [_BLOCK_BY_BLOCK if rule == _BY_LEVEL else rule for rule in self.rules[1:]]
        return [*rules, _WRONG_BLOCK, _WHO_KNOWS]

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of this game as a sentence for participants."""
        if "target" in brief:
            return gettext("One of you holds {items}.").format(items=counted_items(brief["target"]))
        if "targets" in brief:
            return self._cooking_goal(brief)
        if "item" in brief:
            wanted = counted_items({brief["item"]: brief["amount"]})
            return gettext("All of you and the chest hold {items} together.").format(items=wanted)
        if self._lacks_blueprint(brief):
            return gettext(_GOAL_WITHOUT_BLUEPRINT)
        return super().goal(brief)

    def _lacks_blueprint(self, brief: Mapping[str, Json]) -> bool:
        """Return whether a blueprint is to be built that this reader may not know, but others do."""
        return KNOWN_BY in brief and "blueprint" not in brief

    def public_facts(self, view: SeatView) -> tuple[PublicFact, ...]:
        """Return the open orders as text, in the world that has orders."""
        state = view.public_state
        return (PublicFact(gettext("Orders"), tuple(order_texts(state))),) if "orders" in state else ()

    def usual_aims(self, view: SeatView, aims: Sequence[Aim]) -> Sequence[Aim]:
        """Return a member's aims, most useful first. Where an amount is gathered, the member's share of the
        goal comes first, then other aims about the same item."""
        if "item" not in view.brief:
            return aims
        item, share = view.brief["item"], str(gather_share(view.brief, len(view.players)))
        return sorted(aims, key=lambda aim: (aim != (OBTAIN, item, share), item not in aim))

    def wanted_aims(self, view: SeatView) -> Mapping[Aim, int]:
        """Return the aims to deliver the dishes of the open orders, in the world that has orders."""
        orders = (view.observation or view.public_state).get("orders", ())
        return Counter((DELIVER, order["dish"]) for order in orders)

    def _cooking_goal(self, brief: Mapping[str, Json]) -> str:
        names = [item_words(target) for target in brief["targets"]]
        if brief["each_their_own"]:
            text = gettext("{one} holds {first}, and {other} holds {second}.")
            one, other = self.named(1), self.named(2)
            return text.format(one=one, other=other, first=names[0], second=names[1])
        return gettext("One of you holds all of this: {items}.").format(items=joined_words(names))


_GOAL_WITHOUT_BLUEPRINT = gettext_noop(
    "Help to build what the blueprint shows, and nothing else. You do not see it: others know it."
)
_BY_LEVEL = gettext_noop("One action builds all blocks of a level that you hold; another places one block.")
_BLOCK_BY_BLOCK = gettext_noop(
    "Choose what you hold, then press a cell. Draw a line over cells to fill them all."
)
_WRONG_BLOCK = gettext_noop("A block that the blueprint does not show is wrong: remove it.")
_WHO_KNOWS = gettext_noop("Who sees the blueprint can differ from game to game.")
_LAST = gettext_noop("A longer action goes on by itself until it is done. You can stop it.")
_KNOWN = gettext_noop("You see what you hold, but not what the others hold: ask them.")

PAGES: Mapping[str, BlocksPage] = {
    "blocks_construction": BlocksPage(
        title=gettext_noop("Build together"),
        rules=(
            gettext_noop("Build what the blueprint shows, and nothing else."),
            gettext_noop("The materials are shared out among you: give others what they need."),
            _BY_LEVEL,
            _LAST,
            _KNOWN,
        ),
    ),
    "blocks_cooking": BlocksPage(
        title=gettext_noop("Cook together"),
        rules=(
            gettext_noop("One of you must hold all that is wanted."),
            gettext_noop("Collect plants, hunt animals, use the workbench, and cook in the furnace."),
            gettext_noop("Only one can use the furnace at a time. One piece takes ten steps."),
            _LAST,
            _KNOWN,
        ),
    ),
    "blocks_crafting": BlocksPage(
        title=gettext_noop("Make it together"),
        rules=(
            gettext_noop("One of you must hold the wanted thing."),
            gettext_noop("Each of you holds a part of what it needs: give things to one another."),
            gettext_noop("Some things need a workbench, which one of you must hold."),
            _LAST,
            _KNOWN,
        ),
    ),
    "blocks_gather": BlocksPage(
        title=gettext_noop("Gather together"),
        rules=(
            gettext_noop("Gather what is wanted, or build the shelter that the guide shows."),
            gettext_noop("Wood needs no tool. Stone needs a wooden pickaxe, iron a stone pickaxe."),
            gettext_noop("Make a workbench from planks, and planks from logs."),
            _LAST,
            _KNOWN,
        ),
    ),
    "blocks_kitchen": BlocksPage(
        title=gettext_noop("The kitchen of blocks"),
        rules=(
            gettext_noop("Put the ordered dishes into the chest before their time is over."),
            gettext_noop("Put meat, and a log as fuel, into the furnace, and take out the dish."),
            gettext_noop("Animals and the log are back in the next step. Going to a place takes one step."),
        ),
    ),
}
