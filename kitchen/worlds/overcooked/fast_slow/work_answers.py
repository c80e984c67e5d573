"""Write the sentences with which the agent `fast_and_slow` answers people, in the reader's language.

A message stores its sentences as parts: a code, and the kinds of work that it names. Pages translate the
parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kitchen.agents.plain_sentences.sentence_clauses import DOING, HELP, RESUME, TALK, UNCLEAR
from kitchen.contract.organisation import ANSWER, SAY
from kitchen.contract.team_messages import CODE_KEY, MessageDraft
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext, in_english
from kitchen.worlds.overcooked.display_text import SENTENCES, translated
from kitchen.worlds.overcooked.fast_slow.work_aims import KINDS_OF_WORK, NO_AIMS, WORK, WorkAims

AIMS_CODE, PARTS_KEY = "work_aims", "parts"
"""The code of these messages (`CODE_KEY`), and the key of their parts."""
FIRST, LEFT, ANYTHING, NOTHING_LEFT, OK = "first", "left", "anything", "nothing", "all_right"
Part = Sequence[Json]


def answer_parts(kind: str, aims: WorkAims) -> list[Part]:
    """Return the sentences that answer a message of this kind. `aims` are the aims after it."""
    if kind == TALK:
        return [(OK,)]
    if kind == HELP:
        return [(HELP,)]
    if kind == UNCLEAR:
        return [(UNCLEAR,), (HELP,)]
    if kind == RESUME:
        return [(ANYTHING,)]
    return aims_parts(aims) if kind == DOING else [("understood",), *aims_parts(aims)]


def aims_parts(aims: WorkAims) -> list[Part]:
    """Return the sentences that tell these aims."""
    if aims.mode != WORK:
        return [(aims.mode,)]
    if aims == NO_AIMS:
        return [(ANYTHING,)]
    first = [(FIRST, list(aims.first))] if aims.first else []
    left = [(LEFT, [one for one in KINDS_OF_WORK if one in aims.left])] if aims.left else []
    return [*first, *left]


def work_message(parts: Iterable[Part], to: tuple[int, ...], *, answers: bool = True) -> MessageDraft:
    """Return a message with these sentences to these members. Its text is English."""
    stored = [list(part) for part in parts]
    with in_english():
        return MessageDraft(
            work_text(stored),
            ANSWER if answers else SAY,
            to,
            {CODE_KEY: AIMS_CODE, PARTS_KEY: stored},
        )


def work_text(parts: Iterable[Part]) -> str:
    """Return the sentences of these parts in the reader's language."""
    return " ".join(_sentence(*part) for part in parts)


def _sentence(code: str, works: Sequence[str] = ()) -> str:
    named = ", ".join(translated("kinds_of_work", one) for one in works)
    return translated("aim_answers", code).format(works=named)


def stored_work_text(data: Mapping[str, Json]) -> str:
    """Return the text of a stored message in the reader's language; empty if it is not one of these."""
    return work_text(data[PARTS_KEY]) if data.get(CODE_KEY) == AIMS_CODE else ""


def work_examples(food: Sequence[str]) -> tuple[str, ...]:
    """Return messages that the agent understands, in the reader's language. `food` are the ingredients of the
    layout."""
    own = SENTENCES["work_requests"]
    return tuple(gettext(own[code]) for code in (food[0], "serve", "dish", "aside"))
