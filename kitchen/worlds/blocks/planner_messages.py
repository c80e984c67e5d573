"""Write the sentences that the agent `blocks_planner` sends, in English or in the reader's language.

A message stores its sentences as parts: a code and its arguments. Pages translate the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import CODE_KEY, MessageDraft
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext, gettext_noop, in_english, ngettext
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.page_tables import counted_items

PLANNER_CODE, PARTS_KEY = "blocks_planner", "parts"
"""The code of these messages (`CODE_KEY`), and the key of their parts."""
HOLDS, NEEDS, PLACES, REMOVES, GIVES, LACKS = "holds", "needs", "places", "removes", "gives", "lacks"
NOTHING, NO_PLAN, GIVES_UP, NO_CELL = "nothing", "no_plan", "gives_up", "no_cell"
HELP, SHORT_HELP = "help", "short_help"
"""Codes of sentences. `HOLDS` and `NEEDS` have items with amounts as argument. `PLACES`, `GIVES` and `LACKS`
have an item (empty: everything). `PLACES` and `REMOVES` have the number of cells."""
SENTENCES: Mapping[str, str] = {
    HOLDS: gettext_noop("I have {items}."),
    NEEDS: gettext_noop("I need {items}."),
    NOTHING: gettext_noop("I have nothing."),
    GIVES: gettext_noop("I give you this: {item}."),
    LACKS: gettext_noop("I do not have this: {item}."),
    "gives_all": gettext_noop("I give you all that I hold."),
    "lacks_all": gettext_noop("I have nothing to give."),
    "stop": gettext_noop("I wait."),
    "go_on": gettext_noop("I go on."),
    NO_CELL: gettext_noop("That is outside the building site."),
    NO_PLAN: gettext_noop(
        "I do not know the plan. Tell me what to put where, or ask me for what I hold. If you say nothing, "
        "I give it to you later."
    ),
    GIVES_UP: gettext_noop("I give you what I hold, because I do not know what to do with it."),
    HELP: gettext_noop(
        "I understand: put stone on level 1, row 2, columns 1 to 3; remove the block on level 1, row 2, "
        "column 3; give me 5 stone; give me everything; what do you have; stop; go on."
    ),
    SHORT_HELP: gettext_noop(
        "I understand: give me 5 stone; give me everything; what do you have; stop; go on."
    ),
}


def planner_message(
    parts: Sequence[Sequence[Json]],
    kind: str = SAY,
    to: tuple[int, ...] = (),
    data: Mapping[str, Json] | None = None,
) -> MessageDraft:
    """Return a message with these sentences. Its text is English; pages translate it by its parts. `data` is
    further data of the message."""
    stored = {**(data or {}), CODE_KEY: PLANNER_CODE, PARTS_KEY: [list(part) for part in parts]}
    with in_english():
        return MessageDraft(planner_text(parts), kind, to, stored)


def planner_text(parts: Sequence[Sequence[Json]]) -> str:
    """Return the sentences of these parts in the reader's language."""
    return " ".join(_sentence(str(code), *arguments) for code, *arguments in parts)


def _sentence(code: str, *arguments: Json) -> str:
    if code == PLACES:
        item, cells = arguments
        text = ngettext("I put {item} into {n} cell.", "I put {item} into {n} cells.", cells)
        return text.format(item=item_words(item), n=cells)
    if code == REMOVES:
        return ngettext("I remove {n} block.", "I remove {n} blocks.", arguments[0]).format(n=arguments[0])
    if code in (HOLDS, NEEDS):
        return gettext(SENTENCES[code]).format(items=counted_items(arguments[0]))
    if code in (GIVES, LACKS):
        item, amount = (*arguments, 0)[:2]
        thing = counted_items({item: amount}) if amount else item_words(item)
        return gettext(SENTENCES[code if item else f"{code}_all"]).format(item=thing)
    return gettext(SENTENCES[code])
