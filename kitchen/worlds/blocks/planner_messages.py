"""Write the sentences that the agent `blocks_planner` sends, in English or in the reader's language.

A message stores its sentences as parts: a code and its arguments. Pages translate the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import CODE_KEY, MessageDraft
from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_noop, in_english, ngettext, pgettext
from kitchen.worlds.blocks.blueprint_pieces import BlueprintPiece
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.page_tables import counted_items, joined_words

PLANNER_CODE, PARTS_KEY = "blocks_planner", "parts"
"""The code of these messages (`CODE_KEY`), and the key of their parts."""
HOLDS, NEEDS, PLACES, REMOVES, GIVES, LACKS = "holds", "needs", "places", "removes", "gives", "lacks"
NOTHING, NO_PLAN, GIVES_UP, NO_CELL = "nothing", "no_plan", "gives_up", "no_cell"
HELP, SHORT_HELP, UNCLEAR_WORDS, WHICH = "help", "short_help", "unclear", "which"
HELLO, WELCOME, SHORT_OF, HOW_MANY = "hello", "welcome", "short_of", "how_many"
REMOVES_THERE = "removes_there"
DROPS, BLOCKS_STAY, BLOCKS_REMOVED = "drops", "blocks_stay", "blocks_removed"
DONE_STAYS, NOTHING_TO_DROP, SAY_AGAIN = "done_stays", "nothing_to_drop", "say_again"
NOT_IN_PLAN = "not_in_plan"
WHICH_REQUEST, KNOWN_PLAN_WAITS = "which_request", "known_plan_waits"
NOTHING_TO_GO_ON, BUILDS_PLAN, NO_REQUEST = "nothing_to_go_on", "builds_plan", "no_request"
ALL_RIGHT, NOT_READ, CANNOT_UNDO, SAY_YES = "all_right", "not_read", "cannot_undo", "say_yes"
OCCUPIED_CELLS, OCCUPIED_CELL, DIFFERS = "occupied_cells", "occupied_cell", "differs"
TAKES_ON = "takes_on"
KNOWS_PLAN, PLEASE_PUT, BELONGS, NO_NEED, NONE_MISSING, MORE = (
    *("knows_plan", "please_put", "belongs", "no_need", "none_missing", "more"),
)
"""Codes of sentences. `HOLDS`, `NEEDS` and `SHORT_OF` have items with amounts as argument. `PLACES`,
`GIVES`, `LACKS` and `NOT_IN_PLAN` have an item (empty: everything). `PLACES`, `REMOVES`, `OCCUPIED_CELLS`
and `DIFFERS` have the number of cells, and `OCCUPIED_CELL` has a cell. `BLOCKS_STAY` and `BLOCKS_REMOVED`
have a number of blocks. `HELP`, `SHORT_HELP` and `HOW_MANY` have an item that the builder holds.
`UNCLEAR_WORDS` has those that it can place, and `WHICH` those that a word can mean. `PLEASE_PUT` and
`BELONGS` have a piece (`BlueprintPiece.to_json`). `TAKES_ON` has a level and an item."""
KIND_NAMES: Mapping[str, str] = {"wood": gettext_noop("wood")}
"""Words for several kinds of item, by code."""
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
    UNCLEAR_WORDS: gettext_noop(
        "I did not understand all of that, so I build nothing. I can place: {items}. Tell me level, row and "
        "column, for example: {example}."
    ),
    KNOWS_PLAN: gettext_noop("I know the plan. I tell you what I need."),
    PLEASE_PUT: gettext_noop("Please put {item} on {place}, or give me {items}."),
    TAKES_ON: gettext_noop("I take on level {level}: {item}."),
    BELONGS: gettext_noop("{place}: {item}."),
    SHORT_OF: gettext_noop("For the rest I lack {items}."),
    WHICH: gettext_noop("Which of these do you mean: {items}?"),
    HOW_MANY: gettext_noop("How many do you want? Write, for example: “give me 5 {item}”."),
    OCCUPIED_CELL: gettext_noop("There is a block already: {place}."),
    REMOVES_THERE: gettext_noop("I remove the blocks that are there."),
    DROPS: gettext_noop("I drop that request."),
    DONE_STAYS: gettext_noop("What I have done stays."),
    NOTHING_TO_DROP: gettext_noop(
        "Nothing of that is left to do, so I change nothing. Write “stop” if I should wait."
    ),
    SAY_AGAIN: gettext_noop("Please write the whole request again."),
    WHICH_REQUEST: gettext_noop("Which request do you mean? Name its level and row, or its material."),
    KNOWN_PLAN_WAITS: gettext_noop(
        "I cannot leave out parts of the plan. Write “go on” if I shall build again."
    ),
    NOTHING_TO_GO_ON: gettext_noop("I have no request to go on with. Tell me what to put where."),
    BUILDS_PLAN: gettext_noop("I build what the plan has, as far as I have the material."),
    NO_REQUEST: gettext_noop("Nothing that you asked for is left to do."),
    ALL_RIGHT: gettext_noop("All right."),
    NOT_READ: gettext_noop("I did not understand that. Write “help” to see what I understand."),
    NOT_IN_PLAN: gettext_noop("The plan does not have this: {item}."),
    SAY_YES: gettext_noop("I take that for a question and build nothing. Write “yes” if I shall do it."),
    CANNOT_UNDO: gettext_noop("I cannot undo that."),
    HELLO: gettext_noop("Hello!"),
    WELCOME: gettext_noop("You are welcome."),
    NO_NEED: gettext_noop("I need nothing now."),
    NONE_MISSING: gettext_noop("Nothing is missing there."),
    MORE: gettext_noop("There is more: ask again when this is done."),
    GIVES_UP: gettext_noop("I give you what I hold, because I do not know what to do with it."),
    HELP: gettext_noop(
        "I understand: put {item} on level 1, row 2, columns 1 to 3; remove the block on level 1, row 2, "
        "column 3; give me 5 {item}; give me everything; what do you have; stop; go on; never mind; "
        "I meant level 2."
    ),
    SHORT_HELP: gettext_noop(
        "I understand: give me 5 {item}; give me everything; what do you have; stop; go on; never mind."
    ),
}

AXIS_WORDS = (
    (gettext_noop("row {n}"), gettext_noop("rows {first} to {last}")),
    (gettext_noop("column {n}"), gettext_noop("columns {first} to {last}")),
)
"""Texts for one and for several rows and columns."""


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
    return WRITERS.get(code, _plain_sentence)(code, *arguments)


def _plain_sentence(code: str, *_: Json) -> str:
    return gettext(SENTENCES[code])


def _placing_sentence(_: str, item: str, cells: int) -> str:
    text = ngettext("I put {item} into {n} cell.", "I put {item} into {n} cells.", cells)
    return text.format(item=item_words(item), n=cells)


def _removing_sentence(_: str, blocks: int) -> str:
    return ngettext("I remove {n} block.", "I remove {n} blocks.", blocks).format(n=blocks)


def _occupied_sentence(_: str, cells: int) -> str:
    text = ngettext("{n} cell has a block already.", "{n} cells have a block already.", cells)
    return text.format(n=cells)


def _staying_sentence(_: str, blocks: int) -> str:
    text = ngettext("{n} block that I placed stays.", "{n} blocks that I placed stay.", blocks)
    return text.format(n=blocks)


def _removed_sentence(_: str, blocks: int) -> str:
    text = ngettext("I have removed {n} block.", "I have removed {n} blocks.", blocks)
    return text.format(n=blocks)


def _differing_sentence(_: str, cells: int) -> str:
    text = ngettext(
        "{n} cell has something else in the plan, so I leave it.",
        "{n} cells have something else in the plan, so I leave them.",
        cells,
    )
    return text.format(n=cells)


def _items_sentence(code: str, items: Mapping[str, int]) -> str:
    return gettext(SENTENCES[code]).format(items=counted_items(items))


def _choice_sentence(code: str, items: Sequence[str]) -> str:
    return gettext(SENTENCES[code]).format(items=joined_words(map(item_words, items)))


def _gift_sentence(code: str, item: str, amount: int = 0) -> str:
    name = gettext(KIND_NAMES[item]) if item in KIND_NAMES else item_words(item)
    thing = counted_items({item: amount}) if amount else name
    return gettext(SENTENCES[code if item else f"{code}_all"]).format(item=thing)


def _cell_sentence(code: str, column: int, level: int, row: int) -> str:
    return gettext(SENTENCES[code]).format(place=_place_words(level, (row, row), (column, column)))


def _piece_sentence(code: str, *piece: Json) -> str:
    item, level, rows, columns, cells = piece
    words = {"item": item_words(item), "place": _place_words(level, rows, columns)}
    return sentence_case(gettext(SENTENCES[code]).format(**words, items=counted_items({item: cells})))


def _next_sentence(code: str, level: int, item: str) -> str:
    return gettext(SENTENCES[code]).format(level=level + 1, item=item_words(item))


def _help_sentence(code: str, item: str = "stone") -> str:
    return gettext(SENTENCES[code]).format(item=item_words(item))


def _unclear_sentence(code: str, items: Sequence[str]) -> str:
    listed = joined_words(map(item_words, items)) or pgettext("there is no value", "none")
    piece = BlueprintPiece(items[0] if items else "stone", 1, (0, 0), (0, 2))
    example = gettext("{item} on {place}").format(
        item=item_words(piece.item), place=_place_words(piece.level, piece.rows, piece.columns)
    )
    return gettext(SENTENCES[code]).format(items=listed, example=example)


WRITERS: Mapping[str, Callable[..., str]] = {
    PLACES: _placing_sentence,
    REMOVES: _removing_sentence,
    OCCUPIED_CELLS: _occupied_sentence,
    DIFFERS: _differing_sentence,
    BLOCKS_STAY: _staying_sentence,
    BLOCKS_REMOVED: _removed_sentence,
    OCCUPIED_CELL: _cell_sentence,
    **dict.fromkeys((HOLDS, NEEDS, SHORT_OF), _items_sentence),
    **dict.fromkeys((GIVES, LACKS, NOT_IN_PLAN), _gift_sentence),
    **dict.fromkeys((PLEASE_PUT, BELONGS), _piece_sentence),
    UNCLEAR_WORDS: _unclear_sentence,
    TAKES_ON: _next_sentence,
    **dict.fromkeys((HELP, SHORT_HELP, HOW_MANY), _help_sentence),
    WHICH: _choice_sentence,
}
"""Functions that write the sentences with arguments, by code."""


def placing_words(piece: BlueprintPiece) -> str:
    """Return a request to place a piece of the blueprint, in the reader's language."""
    place = _place_words(piece.level, piece.rows, piece.columns)
    return sentence_case(gettext("{item} on {place}").format(item=item_words(piece.item), place=place))


def asking_texts() -> dict[str, Json]:
    """Return the parts of such a request, with places for the item, level, rows and columns, for scripts."""
    rows, columns = ([gettext(text) for text in texts] for texts in AXIS_WORDS)
    place = gettext("level {level}, {row}, {column}")
    return {"text": gettext("{item} on {place}"), "place": place, "rows": rows, "columns": columns}


def _place_words(level: int, rows: Sequence[int], columns: Sequence[int]) -> str:
    """Return the cells of a level as text, such as `level 1, row 2, columns 1 to 5`. `rows` and `columns` are
    first and last, counted from 0."""
    row, column = (
        gettext(one).format(n=first + 1)
        if first == last
        else gettext(several).format(first=first + 1, last=last + 1)
        for (one, several), (first, last) in zip(AXIS_WORDS, (rows, columns), strict=True)
    )
    return gettext("level {level}, {row}, {column}").format(level=level + 1, row=row, column=column)
