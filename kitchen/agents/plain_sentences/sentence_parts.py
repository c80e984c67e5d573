"""Split the tokens of a message into sentences, and sentences into parts that are one clause each.

Commas and words such as *and* separate parts. So do a new subject, and a new verb after a thing. Parts that
only name players or more things belong to a neighbour.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kitchen.agents.plain_sentences.sentence_words import ASKS, COMMA, END, PLAYERS, THING, VERB, Token
from kitchen.agents.plain_sentences.verb_forms import GOING, PAST, TOLD

SUBJECTS = frozenset({"self", "we", "you", "all", "anyone", "nobody", "lets", PLAYERS})
LINKS = frozenset({COMMA, "and", "but", "then", "while", "because"})
BEFORE_RECIPIENTS = frozenset({"to", "for", "para"})
_GO_ON_WITH = frozenset({"to", "for", "neg", "want", "leave", "light"})
"""Meanings after which no new part begins without a link."""
_ADDRESS = frozenset({PLAYERS, "you", "all"})


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence: its tokens, and the meaning of the link before it."""

    tokens: tuple[Token, ...]
    link: str = ""

    def has(self, *meanings: str) -> bool:
        """Return whether the part has a token with one of these meanings."""
        return any(token.meaning in meanings for token in self.tokens)

    def has_only(self, meanings: Collection[str]) -> bool:
        """Return whether all tokens have one of these meanings."""
        return all(token.meaning in meanings for token in self.tokens)

    def players(self) -> tuple[int, ...]:
        """Return all named players once, in order."""
        return tuple(dict.fromkeys(number for token in self.tokens for number in token.players))

    def joined(self, other: Part) -> Part:
        """Return this part with the tokens of `other` after its own."""
        return Part((*self.tokens, *other.tokens), self.link)


def sentences(tokens: Iterable[Token]) -> Iterator[tuple[list[Token], bool]]:
    """Yield the sentences of a message, and whether each ends with a question mark."""
    begun = list[Token]()
    for token in tokens:
        if token.meaning in (END, ASKS):
            yield begun, token.meaning == ASKS
            begun = []
        else:
            begun.append(token)
    yield begun, False


def sentence_parts(sentence: Sequence[Token]) -> list[Part]:
    """Return the parts of a sentence, without players that only receive something."""
    pieces = [piece for piece in _split(sentence) if piece.tokens]
    return [_without_recipients(part) for part in _joined(pieces)]


def _split(sentence: Sequence[Token]) -> Iterator[Part]:
    """Yield the pieces between links, and those that begin with another subject or another verb."""
    begun, link = list[Token](), ""
    for place, token in enumerate(sentence):
        if token.meaning in LINKS:
            yield Part(tuple(begun), link)
            begun, link = [], token.meaning
        elif begun and _begins_anew(begun, sentence[place:]):
            yield Part(tuple(begun), link)
            begun, link = [token], ""
        else:
            begun.append(token)
    yield Part(tuple(begun), link)


def _begins_anew(begun: Sequence[Token], rest: Sequence[Token]) -> bool:
    """Return whether a clause begins without a link: another subject with its verb, or another verb."""
    verbs = [place for place, token in enumerate(begun) if is_action(token)]
    if not verbs or begun[-1].meaning in _GO_ON_WITH:
        return False
    if rest[0].meaning in SUBJECTS:
        has_verb = any(is_action(token) for token in rest[1:4])
        return has_verb or (rest[0].meaning == PLAYERS and len(rest) > 1 and rest[1].meaning == THING)
    has_thing = any(token.meaning in (THING, "it") for token in begun[verbs[0] :])
    return has_thing and rest[0].meaning == VERB and rest[0].form not in (PAST, TOLD, GOING)


def is_action(token: Token) -> bool:
    """Return whether the token is a verb, or a word for stopping or going on."""
    return token.meaning in (VERB, "hold", "para", "resume")


def _joined(parts: list[Part]) -> list[Part]:
    """Return the parts, with pieces that belong to a neighbour joined to it."""
    kept = list[Part]()
    for place, part in enumerate(parts):
        if part.has(*_ADDRESS) and part.has_only({*_ADDRESS, "social"}):
            following = parts[place + 1] if place + 1 < len(parts) else None
            if following and not following.has(PLAYERS):
                parts[place + 1] = Part((*part.tokens, *following.tokens), part.link or following.link)
                continue
            if kept and not kept[-1].has(*(SUBJECTS - {"you"})):
                kept[-1] = kept[-1].joined(part)
                continue
        if kept and (_continues(kept[-1], part) or _begins_list(kept[-1], part)):
            kept[-1] = kept[-1].joined(part)
        else:
            kept.append(part)
    return kept


def _begins_list(before: Part, part: Part) -> bool:
    """Return whether the part before another one only has the first things of its list: *salmon and rice
    first*."""
    return part.link == "and" and before.has_only({THING}) and part.has(THING) and not part.has(*SUBJECTS)


def _continues(before: Part, part: Part) -> bool:
    """Return whether a part only lists more things, or says that the part before it is urgent."""
    if part.link == "then" or not before.has(THING):
        return False
    return part.has_only({"first"}) or (part.has_only({THING, "it"}) and part.has(THING))


def _without_recipients(part: Part) -> Part:
    """Return the part without players that only receive something: *bring rice to player 3*. A *no* by itself
    becomes small talk."""
    if part.has_only({"neg"}):
        return Part(tuple(Token("social", token.text) for token in part.tokens), part.link)
    if not part.has(VERB, THING):
        return part
    befores = (None, *part.tokens)
    pairs = zip(befores, part.tokens, strict=False)
    kept = (
        token
        for before, token in pairs
        if not (token.meaning == PLAYERS and before and before.meaning in BEFORE_RECIPIENTS)
    )
    return Part(tuple(kept), part.link)
