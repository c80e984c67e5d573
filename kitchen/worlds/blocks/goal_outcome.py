"""Say at the end of an episode whether its goal was reached, and what was missing if not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.blocks.blueprints import NO_BLOCK
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.page_tables import counted_items, joined_words


def goal_outcome(view: SeatView, named: Callable[[int], str]) -> str:
    """Return the heading of an ended episode: the goal that was reached, or what was missing.

    `named` returns a player's name by its number, from 1. The heading is empty in a world without a goal.
    """
    brief, score = view.brief, view.result.score
    is_done = bool(score.get("success"))
    if "target" in brief:
        return _crafting_outcome(counted_items(brief["target"]), is_done=is_done)
    if "targets" in brief:
        return _cooking_outcome(brief, score, named)
    if "item" in brief:
        return _gathering_outcome(brief, score, is_done=is_done)
    return "" if score.get("matches") is None else _building_outcome(brief, score)


def _crafting_outcome(items: str, *, is_done: bool) -> str:
    if is_done:
        return gettext("Done: you have made {items}").format(items=items)
    return gettext("The time is up: nobody holds {items}").format(items=items)


def _cooking_outcome(
    brief: Mapping[str, Json], score: Mapping[str, Json], named: Callable[[int], str]
) -> str:
    dishes, is_done = [item_words(target) for target in brief["targets"]], bool(score.get("success"))
    if brief["each_their_own"]:
        text = (
            gettext("Done: {one} holds {first}, and {other} holds {second}")
            if is_done
            else gettext("The time is up: {one} was to hold {first}, and {other} {second}")
        )
        said = text.format(one=named(1), other=named(2), first=dishes[0], second=dishes[1])
    elif is_done:
        return gettext("Done: one of you holds all of this: {items}").format(items=joined_words(dishes))
    else:
        text = gettext("The time is up: nobody holds all of this: {items}")
        said = text.format(items=joined_words(dishes))
    if is_done or "targets_made" not in score:
        return said
    made = round(score["targets_made"] * len(dishes))
    counted = ngettext("{made} of {n} dish was made", "{made} of {n} dishes were made", len(dishes))
    return f"{said}. {counted.format(made=made, n=len(dishes))}"


def _gathering_outcome(brief: Mapping[str, Json], score: Mapping[str, Json], *, is_done: bool) -> str:
    text = gettext("Done: {n} of {all} gathered ({item})")
    if not is_done:
        text = gettext("The time is up: {n} of {all} gathered ({item})")
    wanted = brief["amount"]
    return text.format(n=min(score.get("amount") or 0, wanted), all=wanted, item=item_words(brief["item"]))


def _building_outcome(brief: Mapping[str, Json], score: Mapping[str, Json]) -> str:
    """Return the outcome of a building: its right blocks, and those where the blueprint has none."""
    right, blocks = score["matches"], _wanted_blocks(brief, score)
    if not score["mismatches"]:
        return gettext("The building stands as planned: {n} of {all} blocks").format(n=right, all=right)
    if not blocks:
        return gettext("The time is up: no block stands as planned")
    text = gettext("The time is up: {n} of {all} blocks stand as planned").format(n=right, all=blocks)
    extra = score["mismatches"] - (blocks - right)
    if not extra:
        return text
    more = ngettext(
        "{n} block stands where nothing belongs", "{n} blocks stand where nothing belongs", extra
    ).format(n=extra)
    return f"{text}. {more}"


def _wanted_blocks(brief: Mapping[str, Json], score: Mapping[str, Json]) -> int:
    """Return the number of blocks of the blueprint. Return 0 if the reader does not know the blueprint and
    no block of it stands."""
    if "blueprint" in brief:
        levels = brief["blueprint"]["levels"]
        return sum(letter != NO_BLOCK for rows in levels for row in rows for letter in row)
    return round(score["matches"] / score["filled"]) if score["filled"] else 0
