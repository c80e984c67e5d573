"""Split the tokens of a message into sentences, and sentences into parts that are one clause each.

Commas and words such as *and* separate parts. So do a new subject, and a new verb after a thing. Parts that
only name players or more things belong to a neighbour.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from kitchen.agents.plain_sentences.sentence_words import (
    ASKS,
    COMMA,
    END,
    PLAYERS,
    SUBJECTS,
    THING,
    VERB,
    Token,
)
from kitchen.agents.plain_sentences.verb_forms import GOING, ORDERED, PAST, TOLD

LINKS = frozenset({COMMA, "and", "or", "but", "then", "while", "because"})
NEGATIONS = frozenset({"neg", "instead"})
FORBIDDING = NEGATIONS | {"nobody", "avoid", "forget"}
DOUBT, CHOICE = "except", "choice"
"""Meanings of tokens in sentences that cannot be read safely: exceptions, and *or* between orders."""
COLON, RATHER = "colon", "rather"
"""Links besides `LINKS`: a colon, and a part that says what not to do after one that says what to do."""
BEFORE_RECIPIENTS = frozenset({"to", "for", "para"})
_GO_ON_WITH = frozenset({"to", "for", "neg", "instead", "want", "leave", "light"})
"""Meanings after which no new part begins without a link."""
_ADDRESS = frozenset({PLAYERS, "you", "all"})
_GROUPS = frozenset({"all", "anyone", "nobody"})
_SOCIAL = frozenset({"social", "thanks"})
_REACH = 12
"""Maximum number of tokens after a word that are looked at to find out what the word means."""
_REFUSALS = frozenset({"no", "不"})
"""Negations that are a whole answer by themselves."""


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


@dataclass(slots=True)
class _Begun:
    """The part that is being read."""

    link: str = ""
    tokens: list[Token] = field(default_factory=list)
    has_verb: bool = False
    """True if it has a verb, or a word for stopping or going on."""
    has_work: bool = False
    """True if it has a verb other than *stop*."""
    has_thing: bool = False
    is_complete: bool = False
    """True if it has a thing after a verb."""
    sign: Token | None = None
    """The first word that forbids something, such as *not*, or *stop* before another verb."""

    def add(self, token: Token) -> None:
        """Add a token at the end."""
        is_thing = token.meaning in (THING, "it")
        if self.sign is None and token.meaning in FORBIDDING:
            self.sign = token
        elif self.sign is None and self.tokens and _stops_work(self.tokens[-1], token):
            self.sign = self.tokens[-1]
        self.has_verb |= is_action(token)
        self.has_work |= token.meaning == VERB and token.value != "stop"
        self.has_thing |= is_thing
        self.is_complete |= is_thing and self.has_verb
        self.tokens.append(token)

    @property
    def forbids(self) -> bool:
        """Return whether it forbids something that it names."""
        return self.sign is not None and (self.has_work or self.has_thing)

    def part(self) -> Part:
        """Return the part as it is now."""
        return Part(tuple(self.tokens), self.link)


def _stops_work(token: Token, following: Token) -> bool:
    return token.value == "stop" and following.meaning == VERB and following.form == GOING


def _split(sentence: Sequence[Token]) -> Iterator[Part]:
    """Yield the pieces between links, and those that begin with another subject or another verb."""
    begun = _Begun()
    if _is_unsafe(sentence):
        begun.add(Token(DOUBT, ""))
    for place, token in enumerate(sentence):
        if token.meaning in LINKS or (token.meaning == "nor" and (begun.has_verb or begun.has_thing)):
            if _is_inside(begun, token):
                continue
            yield begun.part()
            begun = _linked(begun, token, _following(sentence, place))
        elif token.meaning in NEGATIONS and _says_otherwise(begun, _following(sentence, place)):
            yield begun.part()
            begun = _Begun(RATHER)
            begun.add(token)
        else:
            if begun.tokens and _begins_anew(begun, sentence[place : place + 4]):
                yield begun.part()
                begun = _Begun()
            begun.add(_negation(begun, token) if token.meaning in ("nor", "without") else token)
    yield begun.part()


def _negation(begun: _Begun, token: Token) -> Token:
    """Return what *nor* and *without* mean at the begin of a part. *Wood without stone* is not clear."""
    is_unclear = token.meaning == "without" and (begun.has_verb or begun.has_thing)
    return Token(DOUBT if is_unclear else "neg", token.text)


def _is_unsafe(sentence: Sequence[Token]) -> bool:
    """Return whether words stand together that say who shall not do something: *stop player 2 from chopping*,
    *stop player 2 chopping*, *not player 2*."""
    from_verb = any(one.text == "from" and after.meaning == VERB for one, after in pairwise(sentence))
    not_all = any(
        one.meaning in NEGATIONS and after.meaning in (PLAYERS, "all") for one, after in pairwise(sentence)
    )
    stops = any(
        one.value == "stop" and who.meaning in SUBJECTS and after.meaning == VERB and after.form == GOING
        for one, who, after in zip(sentence, sentence[1:], sentence[2:], strict=False)
    )
    return from_verb or stops or (not_all and any(one.meaning in (VERB, THING) for one in sentence))


def _following(sentence: Sequence[Token], place: int) -> list[Token]:
    """Return the tokens between a word and the next link."""
    rest = sentence[place + 1 : place + 1 + _REACH]
    return list(takewhile(lambda one: one.meaning not in LINKS, rest))


def _is_inside(begun: _Begun, link: Token) -> bool:
    """Return whether a colon stands in the middle of a clause: *don't make: bricks*."""
    if link.meaning != COMMA or link.text not in (":", "："):  # noqa: RUF001
        return False
    last = begun.tokens[-1] if begun.tokens else None
    refuses = last is not None and last.meaning in NEGATIONS and last.text not in _REFUSALS
    return refuses or (begun.has_work and not begun.has_thing)


def _says_otherwise(begun: _Begun, following: Sequence[Token]) -> bool:
    """Return whether a negation begins a part of its own: *wood, not stone* without the comma."""
    things = any(one.meaning == THING for one in following)
    verbs = any(one.meaning == VERB for one in following)
    return (begun.is_complete and things) or (begun.has_thing and things and not verbs)


def _linked(before: _Begun, link: Token, following: Sequence[Token]) -> _Begun:
    """Return the beginning of the part after a link. What forbids the part before *or* also forbids this
    one."""
    colon = link.text in (":", "：")  # noqa: RUF001
    begun = _Begun(COLON if colon else "and" if link.meaning in ("or", "nor") else link.meaning)
    verb = next((one for one in following if one.meaning == VERB), None)
    is_new = any(one.meaning in SUBJECTS | FORBIDDING for one in following)
    if link.meaning == "but" and any(one.meaning in _GROUPS for one in before.tokens):
        if not _is_new_clause(before, following):
            begun.add(Token(DOUBT, link.text))
    elif link.meaning == "or" and before.tokens and not before.forbids:
        begun.add(Token(CHOICE, link.text))
    elif link.meaning in ("or", "nor", "and") and before.forbids and verb and not is_new and before.sign:
        if link.meaning != "and" or verb.form == GOING or not link.text.isascii():
            begun.add(before.sign)
        elif link.text == "and" or _may_be_forbidden(verb):
            begun.add(Token(DOUBT, link.text))
    return begun


def _is_new_clause(before: _Begun, following: Sequence[Token]) -> bool:
    """Return whether what follows *but* is a clause, and no exception: *all stop, but player 2 chops*."""
    verbs = any(is_action(one) or one.meaning in FORBIDDING for one in following)
    return before.has_verb and verbs


def _may_be_forbidden(verb: Token) -> bool:
    """Return whether a Spanish verb has a form that a *no* before it can govern: *no traigas y cortes*."""
    return verb.form == ORDERED and len(verb.text) > len("pon") and verb.text.endswith(("s", "n"))


def _begins_anew(begun: _Begun, rest: Sequence[Token]) -> bool:
    """Return whether a clause begins without a link: another subject with its verb, or another verb."""
    if not begun.has_verb or begun.tokens[-1].meaning in _GO_ON_WITH:
        return False
    if rest[0].meaning in SUBJECTS:
        has_verb = any(is_action(token) for token in rest[1:4])
        return has_verb or (rest[0].meaning == PLAYERS and len(rest) > 1 and rest[1].meaning == THING)
    return begun.is_complete and rest[0].meaning == VERB and rest[0].form not in (PAST, TOLD, GOING)


def is_action(token: Token) -> bool:
    """Return whether the token is a verb, or a word for stopping or going on."""
    return token.meaning in (VERB, "hold", "para", "resume")


def _joined(parts: list[Part]) -> list[Part]:
    """Return the parts, with pieces that belong to a neighbour joined to it."""
    kept = list[Part]()
    for place, part in enumerate(parts):
        if part.has(*_ADDRESS) and part.has_only(_ADDRESS | _SOCIAL):
            following = parts[place + 1] if place + 1 < len(parts) else None
            if following and not following.has(PLAYERS):
                parts[place + 1] = Part((*part.tokens, *following.tokens), part.link or following.link)
                continue
            if kept and not kept[-1].has(*(SUBJECTS - {"you"})):
                kept[-1] = kept[-1].joined(part)
                continue
        if kept and (_continues(kept[-1], part) or _begins_list(kept[-1], part)):
            kept[-1] = _with_list(kept[-1], part)
        else:
            kept.append(part)
    return kept


def _with_list(before: Part, part: Part) -> Part:
    """Return the part with more things. After a comma, *no wood, stone* is not clear."""
    is_clear = before.has(VERB) or part.link != COMMA or not before.has("neg") or part.has("first")
    return before.joined(part if is_clear else Part((*part.tokens, Token(DOUBT, ",")), part.link))


def _begins_list(before: Part, part: Part) -> bool:
    """Return whether the part before another one only has the first things of its list: *salmon and rice
    first*."""
    return part.link == "and" and before.has_only({THING}) and part.has(THING) and not part.has(*SUBJECTS)


def _continues(before: Part, part: Part) -> bool:
    """Return whether a part only lists more things, or says that the part before it is urgent."""
    if part.link == "then" or not before.has(THING) or before.has("instead"):
        return False
    if part.link in ("but", COLON) and before.has(*FORBIDDING):
        return False
    return part.has_only({"first"}) or (part.has_only({THING, "it"}) and part.has(THING))


def _without_recipients(part: Part) -> Part:
    """Return the part without players that only receive something: *bring rice to player 3*. A *no* by itself
    becomes small talk."""
    if part.has_only({"neg"}) and all(token.text in _REFUSALS for token in part.tokens):
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
