"""Find the condition of a sentence: *when the stone is ready, put it on*; *fetch wood if the table is free*.

Two conditions are read: a thing is ready, and a tool or place is free. The sentence without its condition is
read like any other. All other conditions, such as *if player 2 chops* or *unless …*, are not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kitchen.agents.plain_sentences.sentence_words import COMMA, PLAYERS, THING, VERB, Token
from kitchen.agents.plain_sentences.verb_forms import PAST

READY, FREE = "ready", "free"
"""States for which a condition waits: a thing is there, or a tool or place is free."""
WHEN, SO = "when", "so"
"""Meanings of words that begin a condition, and of Chinese words that end one: *就*, *以后*."""
_BEFORE = frozenset({COMMA, PLAYERS, "you", "all", "anyone", "social", "thanks", "now", "can"})
"""Meanings of tokens that may stand before a condition at the begin of a sentence."""
_ENDS = frozenset({COMMA, "then", SO})
_RESULTS = ("好", "完", "熟")
"""Last characters of Chinese verbs that say that something is finished."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition under which an order is carried out."""

    state: str
    """READY or FREE."""
    thing: str
    """The name of the thing. Empty: the thing of the order, as in *bring the bread once it is baked*."""
    verb: str = ""
    """The meaning of a verb that says how the thing is made: `chop` for *when the wood is chopped*."""


class ConditionalSentence(NamedTuple):
    """A sentence in two parts. `condition` is None if it is not understood."""

    condition: Condition | None
    rest: list[Token]


def split_condition(sentence: Sequence[Token]) -> ConditionalSentence | None:
    """Return the condition of a sentence, and its other tokens. Return None for a sentence without one."""
    begins = [place for place, token in enumerate(sentence) if token.meaning == WHEN]
    if not begins:
        return _without_begin(sentence)
    begin = begins[0]
    before = list(sentence[:begin])
    if len(begins) > 1:
        return ConditionalSentence(None, list(sentence))
    if any(token.meaning not in _BEFORE for token in before):
        return _condition_last(before, sentence[begin + 1 :])
    return _condition_first(before, sentence[begin + 1 :])


def _condition_first(before: list[Token], following: Sequence[Token]) -> ConditionalSentence:
    """Return the parts of a sentence that begins with its condition. Without a comma, the condition is as
    long as it can be."""
    end = next((place for place, token in enumerate(following) if token.meaning in _ENDS), None)
    ends = range(len(following) - 1, 0, -1) if end is None else (end,)
    for place in ends:
        if found := _condition(following[:place]):
            return ConditionalSentence(found, [*before, *_without_link(following[place:])])
    return ConditionalSentence(None, [*before, *following])


def _condition_last(before: list[Token], following: Sequence[Token]) -> ConditionalSentence:
    if before[-1].meaning == COMMA:
        before = before[:-1]
    return ConditionalSentence(_condition(following, is_last=True), before)


def _without_begin(sentence: Sequence[Token]) -> ConditionalSentence | None:
    """Return the parts of a Chinese sentence whose condition has a word after it only: *米饭好了就上菜*."""
    for place, token in enumerate(sentence):
        if token.meaning == SO or (token.meaning in ("then", "while") and not token.text.isascii()):
            begin = next((at for at, one in enumerate(sentence) if one.meaning not in _BEFORE), place)
            rest = [one for one in sentence[place + 1 :] if one.meaning != SO]
            if rest and (found := _condition(sentence[begin:place])):
                return ConditionalSentence(found, [*sentence[:begin], *rest])
    return None


def _without_link(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without the comma or the words such as *then* before the order."""
    rest = list(tokens)
    while rest and rest[0].meaning in _ENDS:
        rest.pop(0)
    return rest


def _condition(tokens: Sequence[Token], *, is_last: bool = False) -> Condition | None:
    """Return the condition that these tokens state; None if they are anything else. After an order
    (`is_last`), it need not name its thing."""
    things = [token for token in tokens if token.meaning == THING]
    states = [state for token in tokens if (state := _state(token))]
    others = [token for token in tokens if token.meaning != THING and not _state(token)]
    plain = {"copula", "aux", "it", "le", "now"}
    if len(things) > 1 or not states or any(token.meaning not in plain for token in others):
        return None
    if not (things or is_last):
        return None
    verbs = [token.value for token in tokens if token.meaning == VERB and token.value != "free"]
    kinds = set(states)
    if len(kinds) > 1 or len(verbs) > 1:
        return None
    return Condition(kinds.pop(), things[0].value if things else "", verbs[0] if verbs else "")


def _state(token: Token) -> str:
    """Return the state that a token says; empty for other tokens."""
    if token.meaning == "vacant" or (token.meaning == VERB and token.value == "free"):
        return FREE
    is_result = token.meaning == VERB and (token.form == PAST or tells_result(token))
    return READY if token.meaning == "done" or is_result else ""


def tells_result(token: Token) -> bool:
    """Return whether a token is a Chinese verb that says that something is finished: *切好*."""
    return token.meaning == VERB and len(token.text) > 1 and token.text.endswith(_RESULTS)
