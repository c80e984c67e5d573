"""Read what people write to the agent `fast_and_slow`: *onions are yours*, *you serve*, *stay out of my way*.

`data/spoken_work.toml` has the names of things in three languages. The grammar is that of
`kitchen.agents.plain_sentences`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from pydantic import TypeAdapter

from kitchen.agents.plain_sentences.sentence_clauses import (
    AVOID,
    DOING,
    HALT,
    HELP,
    OFFER,
    ORDER,
    QUESTION,
    RESUME,
    TALK,
    UNCLEAR,
    Clause,
    read_clauses,
)
from kitchen.agents.plain_sentences.sentence_words import THING, VERB, SentenceWords, Token
from kitchen.agents.plain_sentences.verb_forms import GOING
from kitchen.contract.data_files import read_toml
from kitchen.worlds.overcooked.fast_slow.work_aims import ASIDE, NO_AIMS, POT, SERVE, WAIT, WORK, WorkAims
from kitchen.worlds.overcooked.game_rules import DISH, FOOD

SOUP, ALL_FOOD, ALL, UNBLOCK = "soup", "food", "all", "unblock"
"""Names of things in the file. `UNBLOCK` asks for room with a negation of its own: *don't block me*."""
OWNED_BY_YOU = "you"
"""The meaning of words such as *yours* and *you*."""
_NEGATED = frozenset({"neg", "nor", "instead", "without", "nobody", "unable", "except", "avoid", "forget"})
"""Meanings of words that negate what a clause asks for."""
_OWNERSHIP = frozenset({"mine", "have", "copula", "leave", "alone"})
"""Meanings of words that say whose a part of the work is. Their negation may mean either."""
_BRINGS = frozenset({"", "do", "fetch", "put", "use"})
_MAKES = frozenset({"cook", "boil", "make", "mix"})


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """What a message asks of a cook."""

    aims: WorkAims
    """The aims after the message."""
    kind: str
    """ORDER if the message sets aims, else RESUME, DOING, HELP, TALK or UNCLEAR."""


def read_work_request(text: str, seat: int, before: WorkAims, food: Collection[str]) -> WorkRequest:
    """Return what a message asks of the cook in this seat. `before` are its aims so far, and `food` the
    ingredients of the layout. An unclear message changes nothing."""
    tokens = _words().read(text)
    clauses = [one for one in read_clauses(tokens) if not one.players or seat in one.players]
    if not clauses:
        return WorkRequest(before, TALK)
    reader, aims = _Reader(tokens, food), before.in_mode(WORK)
    for clause in clauses:
        if clause.kind in (TALK, DOING, HELP):
            continue
        changed = reader.changed(aims, clause)
        if changed is None:
            return WorkRequest(before, UNCLEAR)
        aims = changed
    kinds = {one.kind for one in clauses}
    if kinds <= {DOING, HELP, TALK}:
        return WorkRequest(before, next(kind for kind in (DOING, HELP, TALK) if kind in kinds))
    return WorkRequest(aims.in_layout(food), RESUME if aims == NO_AIMS else ORDER)


class _Reader:
    """Applies the clauses of one message to aims. A clause that gives parts of the work to the cook adds to
    what the message gave it before."""

    def __init__(self, tokens: Sequence[Token], food: Collection[str]) -> None:
        self.food = food
        self.names_you = any(token.meaning == OWNED_BY_YOU for token in tokens)
        self.given = set[str]()
        self.stops_thing = any(
            one.value == "stop" and one.text.startswith("stop") and then.meaning == THING
            for one, then in pairwise(tokens)
        )
        """True for *stop serving*, but not for *wait for the soup*."""
        self.stops_verb = any(
            one.value == "stop" and then.meaning == VERB and then.value != "stop" and then.form != GOING
            for one, then in pairwise(tokens)
        )
        """True for *stop serve*. In Chinese this may be *stop serving* or *stop, then serve*."""
        self.begins_with_para = bool(tokens) and tokens[0].meaning == "para"

    def changed(self, aims: WorkAims, clause: Clause) -> WorkAims | None:
        """Return the aims after this clause; None if it is not understood."""
        if clause.kind == RESUME:
            return NO_AIMS
        if {ASIDE, UNBLOCK} & {*clause.things}:
            return aims.in_mode(ASIDE) if _asks_for_room(clause) else None
        if clause.kind == HALT:
            return self._halted(aims, clause)
        if self.stops_verb or _is_ambiguous(clause) or (self.begins_with_para and not clause.verb):
            return None
        if ALL in clause.things or (clause.kind == ORDER and clause.verb == "do" and not clause.things):
            return NO_AIMS if clause.kind == ORDER else None
        return self._with_works(aims, clause)

    def _halted(self, aims: WorkAims, clause: Clause) -> WorkAims | None:
        """Return the aims after a clause that asks to stop: all work, or what it names."""
        if not clause.things:
            return aims.in_mode(WAIT)
        return self._with_works(aims, replace(clause, kind=AVOID, verb="")) if self.stops_thing else None

    def _with_works(self, aims: WorkAims, clause: Clause) -> WorkAims | None:
        works = [one for one in _works(clause, self.food) if one not in FOOD or one in self.food]
        if not works or clause.kind not in (ORDER, OFFER, AVOID):
            return None
        if clause.kind == ORDER:
            return self._ordered(aims, clause, works)
        more = {DISH} if clause.kind == OFFER and works == [SERVE] and DISH not in aims.first else set()
        return aims.leaving({*works, *more})

    def _ordered(self, aims: WorkAims, clause: Clause, works: Sequence[str]) -> WorkAims:
        is_part = clause.verb in ("", "do") and self.names_you and not clause.is_common
        works = [*works, *([DISH] if SERVE in works else [])]
        if not is_part:
            return aims.preferring(works)
        self.given |= {*works}
        return aims.preferring(works).only(self.given, self.food)


def _asks_for_room(clause: Clause) -> bool:
    """Return whether a clause that names the way asks for room. *You're not in my way* and *don't step
    aside* do not, and neither do a question and what somebody tells about the cook."""
    if UNBLOCK in clause.things:
        return clause.kind in (ORDER, HALT, AVOID, QUESTION, UNCLEAR)
    if clause.meanings & _NEGATED:
        return False
    return clause.kind == ORDER or (clause.kind == UNCLEAR and "you" not in clause.meanings)


def _is_ambiguous(clause: Clause) -> bool:
    """Return whether a clause forbids something in words that may mean the opposite: *onions are not mine*,
    *don't leave the onions to me*, *don't worry about the onions*."""
    if clause.kind != AVOID or not clause.meanings & _NEGATED:
        return False
    is_said = not clause.verb and ("you" in clause.meanings or clause.has_unknown)
    is_turn = clause.verb == "use" and "me" in clause.meanings  # Spanish: *las cebollas no me tocan*
    return is_said or is_turn or bool(clause.meanings & _OWNERSHIP)


def _works(clause: Clause, food: Collection[str]) -> Iterator[str]:
    """Yield the kinds of work that a clause names; nothing if it names none."""
    things = [thing.rpartition(":")[2] for thing in clause.things]
    if clause.verb == "serve":
        yield SERVE
    elif clause.verb in _MAKES and not FOOD.intersection(things):
        yield from sorted(food)
    elif clause.verb in _BRINGS | _MAKES:
        if clause.kind == ORDER and len(things) > 1:
            things = [thing for thing in things if thing != POT]  # where something goes
        for thing in things:
            yield from _works_of_thing(thing, clause, food)


def _works_of_thing(thing: str, clause: Clause, food: Collection[str]) -> Iterator[str]:
    if thing in (*FOOD, DISH):
        yield thing
    elif thing == POT and clause.kind != ORDER:
        yield POT
    elif thing in (POT, ALL_FOOD):
        yield from sorted(food)
    elif thing == SOUP:
        yield from (SERVE, DISH) if clause.verb == "fetch" else (SERVE,)


@cache
def _words() -> SentenceWords:
    """Read the names of things. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(Path(__file__).parent.parent / "data" / "spoken_work.toml")
    named = source.read(TypeAdapter(Mapping[str, Mapping[str, str]]), values)
    return SentenceWords(
        {
            language: [(name, code) for code, names in things.items() for name in names.split("|")]
            for language, things in named.items()
        }
    )
