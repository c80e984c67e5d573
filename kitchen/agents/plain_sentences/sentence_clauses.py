"""Read what the clauses of a message ask of program players: orders, announcements, questions, small talk.

Examples: *Player 2: please chop the wood, I will fetch the stone. Don't fetch stone. What are you doing?* The
module knows no world: a clause has the meaning of its verb and the world's own names of things.

Questions, what people tell about the past or the present, and unknown words before a verb are never orders.
Orders with a condition (`sentence_conditions`) are read for worlds that can wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kitchen.agents.plain_sentences.sentence_conditions import (
    SO,
    WHEN,
    Condition,
    split_condition,
    tells_result,
)
from kitchen.agents.plain_sentences.sentence_parts import (
    CHOICE,
    DOUBT,
    FORBIDDING,
    NEGATIONS,
    RATHER,
    Part,
    sentence_parts,
    sentences,
)
from kitchen.agents.plain_sentences.sentence_words import (
    HANDLED,
    LOCATED,
    PLAYERS,
    SUBJECTS,
    THING,
    UNKNOWN,
    VERB,
    Token,
)
from kitchen.agents.plain_sentences.verb_forms import GOING, ORDERED, OWN, PAST, TOLD

ORDER, OFFER, AVOID, HALT, RESUME = "order", "offer", "avoid", "halt", "resume"
QUESTION, DOING, HELP, TALK, UNCLEAR = "question", "doing", "help", "talk", "unclear"
"""Kinds of clauses. With an OFFER, people say that they do something themselves. AVOID forbids something.
DOING asks what the players do now. HELP asks what they understand. TALK asks for nothing."""
MOST_UNKNOWN = 2
"""Maximum number of unknown words after the verb of an order."""

INVARIANT = frozenset({"cut", "put"})
"""English verbs whose past form is their infinitive. After *is* or *has*, they tell about the past."""


@dataclass(frozen=True, slots=True)
class Clause:
    """What one clause of a message asks for."""

    kind: str
    verb: str = ""
    """The meaning of the verb: a key of `[en.verbs]`. Empty for a clause without a verb: *rice please*."""
    things: tuple[str, ...] = ()
    """Names of things. For *chopped salmon*, it is `chop:salmon`."""
    players: tuple[int, ...] = ()
    """The players that are named, counted from 0. Empty: none is named."""
    is_first: bool = False
    """True if it shall be done before other things."""
    is_common: bool = False
    """True if all do it together (*let's …*), or if the sender asks for help with a thing."""
    has_unknown: bool = False
    """True if it has a word that is not known."""
    when: Condition | None = None
    """For an ORDER: the condition under which it applies."""
    meanings: frozenset[str] = field(default=frozenset(), compare=False)
    """The meanings of all its words (`Token.meaning`), for worlds that look closer: `neg`, `mine`."""


def read_clauses(tokens: Sequence[Token], *, waits: bool = False) -> list[Clause]:
    """Return what the clauses of a message ask for, in order. Small talk is left out if there is anything
    else; otherwise one TALK clause is returned.

    `waits` says that the players can wait for a condition. Without it, an order with one is UNCLEAR.
    """
    found, players = list[Clause](), tuple[int, ...]()
    for sentence, asks in sentences(tokens):
        clauses = _with_condition(sentence, players, asks=asks, waits=waits)
        players = next((each.players for each in reversed(clauses) if each.players), players)
        found += clauses
    return [each for each in found if each.kind != TALK] or found[:1] or [Clause(UNCLEAR)]


def _with_condition(
    sentence: Sequence[Token], players: tuple[int, ...], *, asks: bool, waits: bool
) -> list[Clause]:
    """Return the clauses of one sentence that may have a condition."""
    if (split := split_condition(sentence)) is None:
        plain = [token for token in sentence if token.meaning != SO]
        return _sentence_clauses(sentence_parts(plain), players, asks=asks)
    clauses = list[Clause]()
    if split.condition and waits:
        topic = (split.condition.thing,) if split.condition.thing else ()
        clauses = _sentence_clauses(sentence_parts(split.rest), players, asks=asks, topic=topic)
        clauses = [one for one in clauses if one.kind != TALK]
    if clauses and all(one.kind == ORDER for one in clauses):
        return [_with_topic(one, split.condition) for one in clauses]
    named = tuple(dict.fromkeys(number for token in sentence for number in token.players))
    return [Clause(UNCLEAR, players=named or players)]


def _with_topic(order: Clause, condition: Condition | None) -> Clause:
    """Return the order with its condition. If only one of the two names a thing, it is that of the other,
    too: *when the bread is baked, serve*."""
    if condition and not condition.thing:
        condition = replace(condition, thing=order.things[0] if order.things else "")
    elif condition and order.verb == "serve" and not order.things:
        order = replace(order, things=(condition.thing,))
    return replace(order, when=condition)


def _sentence_clauses(
    parts: Sequence[Part], players: tuple[int, ...], *, asks: bool, topic: tuple[str, ...] = ()
) -> list[Clause]:
    """Return the clauses of one sentence. `players` are those that the message named before, and `topic` is
    what *it* means before a thing is named. Nothing in a sentence with an exception or a choice is done."""
    if any(part.has("cond", WHEN, DOUBT, CHOICE) for part in parts):
        named = tuple(dict.fromkeys(number for part in parts for number in part.players()))
        is_choice = asks and not any(part.has("cond", WHEN, DOUBT) for part in parts)
        return [Clause(QUESTION if is_choice else UNCLEAR, players=named or players)]
    found, is_doubtful = list[Clause](), False
    for place, part in enumerate(parts):
        players = part.players() or (() if part.has("all", "anyone") else players)
        is_asked = asks and place == len(parts) - 1 and part.link != "while"
        before = found or ([Clause(TALK, things=topic)] if topic else [])
        clause = _Reader(part, players, before, asks=is_asked).clause()
        if clause.kind == ORDER and is_doubtful:
            clause = Clause(UNCLEAR, players=clause.players)
        is_doubtful |= _casts_doubt(clause, part)
        found.append(clause)
    return found


def _casts_doubt(clause: Clause, part: Part) -> bool:
    """Return whether a part is not understood, so that what follows in its sentence may depend on it. A word
    by itself does not, but *don't* by itself does. An unknown word at the begin of a statement may be a
    misspelt *when*."""
    unknown = part.has(UNKNOWN) and len(part.tokens) > 1
    if clause.kind == TALK and clause.things:
        return unknown and part.tokens[0].meaning == UNKNOWN
    return clause.kind == UNCLEAR and (unknown or part.has_only(NEGATIONS))


class _Reader:
    """Reads one part of a sentence."""

    def __init__(self, part: Part, players: tuple[int, ...], before: Sequence[Clause], *, asks: bool) -> None:
        self.part, self.players, self.before, self.asks = part, players, before, asks
        self.verbs = self._verbs()
        self.things = self._things()
        self.verb = self.verbs[-1].value if self.verbs else self._implied_verb()
        self.is_own = part.has("self") or any(token.form == OWN for token in self.verbs)

    def _implied_verb(self) -> str:
        """Return the meaning of a part without a verb: *I have the rice*, or, in Chinese, *别动大米*."""
        if self.part.has("hold") and self.things:
            return "use"
        return "fetch" if self.part.has("have") else ""

    def clause(self) -> Clause:
        """Return what the part asks for."""
        part = self.part
        kind = self._kind()
        things = self.things
        if not things and part.has("it") and self.before:
            things = self.before[-1].things
        is_first = part.has("first") or (kind == ORDER and part.has("now") and not self.verbs)
        is_common = part.has("lets", "we") or (part.has("assist") and not self.verbs)
        players = () if kind == OFFER else self.players
        meanings = frozenset(token.meaning for token in part.tokens)
        unknown = part.has(UNKNOWN)
        return Clause(kind, self.verb, things, players, is_first, is_common, unknown, meanings=meanings)

    def _verbs(self) -> list[Token]:
        """Return the verbs that ask for something. Participles before things are left out, and so are verbs
        such as *do* before others."""
        found, tokens = list[Token](), self.part.tokens
        last = max((place for place, token in enumerate(tokens) if token.meaning == VERB), default=0)
        for place, token in enumerate(tokens):
            is_light = token.value in ("do", "stop") and place < last
            if token.meaning == VERB and not is_light and not self._is_participle(place):
                found.append(token)
        return found

    def _is_participle(self, place: int) -> bool:
        """Return whether a verb only says which thing is meant: *bring the chopped salmon*."""
        token, rest = self.part.tokens[place], self.part.tokens[place + 1 :]
        if token.meaning != VERB or token.form != PAST or not place or not rest:
            return False
        tells = self.part.tokens[place - 1].meaning in SUBJECTS | {"have", "aux", "done", "past"}
        return rest[0].meaning == THING and not tells

    def _things(self) -> tuple[str, ...]:
        """Return the things that are meant. What they are for is left out: *lettuce for the burger*."""
        named, main, before, needs = list[str](), list[str](), "", self.part.has("need")
        for place, token in enumerate(self.part.tokens):
            needs = needs and token.meaning != "need"
            if token.meaning == THING:
                made_by = (
                    self.part.tokens[place - 1].value if place and self._is_participle(place - 1) else ""
                )
                named.append(f"{made_by}:{token.value}" if made_by else token.value)
                main += [] if needs or before in ("for", "para") else named[-1:]
            before = token.meaning
        return tuple(dict.fromkeys(main or named))

    def _kind(self) -> str:
        kinds = (
            (DOING, self._asks_doing),
            (HELP, self._asks_help),
            (UNCLEAR, self._is_double_negation),
            (self._kind_of_thanks(), self._thanks),
            (self._kind_of_rest(), self._says_otherwise),
            (QUESTION, self._is_question),
            (AVOID, self._forbids),
            (TALK, self._tells),
            (OFFER, self._offers),
            (RESUME, self._resumes),
            (HALT, self._stops),
            (ORDER, self._orders),
            (TALK, self._is_talk),
        )
        return next((kind for kind, holds in kinds if holds()), UNCLEAR)

    def _is_double_negation(self) -> bool:
        """Return whether it forbids to stop something: *don't stop chopping*. An unknown word between *don't*
        and a verb may mean the same."""
        if not (self.things or any(one.value != "stop" for one in self.verbs)):
            return False
        negated = False
        for token in self.part.tokens:
            if negated and (token.meaning in ("avoid", "forget", UNKNOWN) or token.value == "stop"):
                return bool(self.verbs) or token.meaning != UNKNOWN
            if token.meaning == VERB:
                return False
            negated |= token.meaning in ("neg", "instead", "nobody")
        return False

    def _thanks(self) -> bool:
        """Return whether it thanks for something, or praises it: *thanks for the stone*."""
        meanings = [token.meaning for token in self.part.tokens]
        begin = meanings.index("thanks") if "thanks" in meanings else len(meanings)
        return bool({VERB, THING} & set(meanings[begin:])) and not {VERB, THING} & set(meanings[:begin])

    def _kind_of_thanks(self) -> str:
        """Return TALK for thanks. *Thanks chop rice* may be an order."""
        is_for = self.part.has("for") or any(" " in one.text for one in self.part.tokens)
        orders = [one for one in self.verbs if one.form != GOING]
        return UNCLEAR if orders and not is_for else TALK

    def _says_otherwise(self) -> bool:
        """Return whether it says what is not meant in a clause that is no order: *I fetch stone, not wood*
        without the comma."""
        return self.part.link == RATHER and bool(self.before) and self.before[-1].kind != ORDER

    def _kind_of_rest(self) -> str:
        return UNCLEAR if self.before and self.before[-1].kind == AVOID else TALK

    def _asks_doing(self) -> bool:
        if self.part.has("doing"):
            return True
        is_about_sender = self.is_own or any(token.text.endswith(" i") for token in self.part.tokens)
        return self.part.has("ask") and self.verb == "do" and not self.things and not is_about_sender

    def _asks_help(self) -> bool:
        if self.verbs or self.things:
            return False
        only = self.part.has_only({"assist", "me", "social", "thanks", "can", "you"})
        return self.part.has("help") or (self.part.has("assist") and only and not self.players)

    def _is_question(self) -> bool:
        """Return whether it asks for an answer. *Can you …?* asks for something to be done."""
        skipped = ("social", "thanks", "now")
        begin = next((one for one in self.part.tokens if one.meaning not in skipped), None)
        addressed = [one for one in self.part.tokens if one.meaning not in (*skipped, PLAYERS)]
        is_inverted = any(one.meaning == "aux" and (" " in one.text or self.asks) for one in addressed[:1])
        asks_past = self.asks or self.is_own or self.verb != "do"
        tells_past = any(one.text == "did" for one in addressed[:1]) and asks_past
        if (
            self.part.has("ask")
            or is_inverted
            or tells_past
            or (begin is not None and begin.meaning == "aux")
        ):
            return True
        if not (self.asks or self.part.has("ma")):
            return False
        if self.part.has("ma") and self.part.has("le"):  # Chinese: *has …?*
            return True
        requests = self.part.has("can", "anyone", "assist", "want", "me", *NEGATIONS, "lets", "need")
        return not (requests or self._orders_you())

    def _orders_you(self) -> bool:
        """Return whether a Spanish question is an order: *¿cortas el salmón?*"""
        is_you = any(one.form == ORDERED and one.text.endswith(("as", "es")) for one in self.verbs)
        return is_you and not self.part.has("self", "copula")

    def _tells(self) -> bool:
        """Return whether it tells about the past, about what players do, or about what people like or cannot
        do."""
        part, going = self.part, any(token.form == GOING for token in self.verbs)
        if part.has("past", "unable", "like") or self._is_over():
            return True
        if self.is_own and (self.verb == "stop" or part.has("le")):
            return not part.has("want")
        reports = part.has("copula", "aux", "we") and going and not self.is_own
        reports |= not self.verbs and any(token.form == LOCATED for token in part.tokens)
        has = part.has("have") and (bool(self.verbs) or part.has(PLAYERS, "you"))
        return reports or has or (part.has("done") and not part.has("need", "resume"))

    def _is_over(self) -> bool:
        """Return whether a verb tells about the past. *The salmon needs to be chopped* does not. In Chinese,
        了 between verb and thing does so."""
        tokens = self.part.tokens
        told = any(
            (one.meaning, sign.meaning, thing.meaning) == (VERB, "le", THING)
            for one, sign, thing in zip(tokens, tokens[1:], tokens[2:], strict=False)
        )
        result = any(
            one.meaning == VERB and (sign.meaning == "guo" or (sign.meaning == "le" and tells_result(one)))
            for one, sign in pairwise(tokens)
        )
        is_told = self.part.has(*SUBJECTS) or any(token.form == LOCATED for token in tokens)
        lasts = is_told and any(
            one.meaning == VERB and sign.meaning == "zhe" for one, sign in pairwise(tokens)
        )
        lasts |= any(token.form == LOCATED for token in tokens) and self.part.has("le")
        invariant = any(
            one.meaning in ("aux", "copula", "have") and verb.meaning == VERB and verb.text in INVARIANT
            for one, verb in pairwise([one for one in tokens if one.meaning not in NEGATIONS])
        )
        past = any(token.form in (PAST, TOLD) for token in self.verbs) and not self.part.has("need")
        return told or result or lasts or self._tells_handled() or invariant or past

    def _tells_handled(self) -> bool:
        """Return whether a Chinese clause with 把 tells what somebody did: *机器人2把大米放进锅里了*. Only a
        place or a result tells it. *机器人2把三文鱼切了* may be an order."""
        tokens = self.part.tokens
        if tokens[-1].meaning != "le" or not any(token.form == HANDLED for token in tokens):
            return False
        verb = next((place for place, token in enumerate(tokens) if token.meaning == VERB), len(tokens))
        has_more = any(token.meaning in (THING, UNKNOWN) for token in tokens[verb:])
        named = self.part.has(PLAYERS) and not self.part.has("you")
        return self.part.has("anyone") or (named and has_more)

    def _forbids(self) -> bool:
        part = self.part
        if not (self.verbs or self.things) or part.has("done", "past", "like", "unable") or self._denies():
            return False
        if part.has("remind"):  # *make sure not to fetch stone*
            forbids = part.has("neg", "nobody", "avoid") or self._stops_work()
            return forbids and self.verb != "stop" and not part.has("need")
        if self.is_own and not part.has("want"):
            return False
        if part.has(*FORBIDDING, "enough"):
            return self.verb != "stop" and not (part.has("copula", "aux") and part.has(PLAYERS, "nobody"))
        leaves = part.has("leave", "alone") and not part.has("mine", "me", "can")
        is_let = bool(self.verbs) and part.has(PLAYERS, "you", "anyone")
        return self._stops_work() or (leaves and not is_let)

    def _denies(self) -> bool:
        """Return whether it says what did not happen: *nobody baked the bread*, *the bread is not baked*."""
        if not self._is_over() or self.part.has("can", "remind", "want"):
            return False
        is_told = any(one.form == TOLD for one in self.verbs)
        tells = is_told or self.part.has("nobody", "copula", "aux", "have")
        return tells and self.part.has("nobody", *NEGATIONS)

    def _stops_work(self) -> bool:
        """Return whether it is like *stop chopping* or, in Chinese, *别动大米*."""
        stops = any(
            one.value == "stop" and after.meaning == VERB and after.form == GOING
            for one, after in pairwise(self.part.tokens)
        )
        return stops or (self.part.has("hold") and bool(self.things))

    def _offers(self) -> bool:
        part = self.part
        if not (self.verbs or self.things) or part.has("want", *NEGATIONS) or not self._is_known():
            return False
        is_mine = part.has("mine") or (part.has("leave") and part.has("me"))
        if is_mine and all(token.value in ("do", "use") for token in self.verbs):
            return True
        if self.is_own or (part.has("have") and not self.verbs):
            return True
        if not (self.before and self.before[-1].kind == OFFER and part.link in ("and", "then")):
            return False
        orders = part.has(*SUBJECTS) or any(token.form == ORDERED for token in self.verbs)
        return bool(self.verbs) and not orders

    def _resumes(self) -> bool:
        return self.part.has("resume") and not (self.verbs or self.things or self.part.has("neg", "self"))

    def _stops(self) -> bool:
        """Return whether it asks to stop. *The salad is ready and waits* does not."""
        about_thing = self.before and self.before[-1].kind == TALK and self.before[-1].things
        if about_thing and self.part.link == "and" and not self.part.has(*SUBJECTS):
            return False
        waits = not (self.verbs or self.things) and self.part.has("hold", "para")
        return (self.verb == "stop" or waits) and not self.part.has("neg", "remind", "self")

    def _orders(self) -> bool:
        part = self.part
        if self.verb == "stop" or part.has("nobody", "unable", "vacant") or part.has(*NEGATIONS):
            return False
        if self.verbs:
            return self._is_known()
        urgent = part.has("first", "need", "want") or (part.has("you") and not part.has(UNKNOWN))
        return bool(self.things) and (urgent or not part.has(UNKNOWN, "copula", "aux"))

    def _is_known(self) -> bool:
        """Return whether no unknown word comes before the verb, and few come after it. Without a verb or a
        thing, no word is unknown."""
        unknown = [token.meaning == UNKNOWN for token in self.part.tokens]
        verbs = [token.meaning == VERB for token in self.part.tokens]
        if True not in verbs or not self.things:
            return not any(unknown)
        first = verbs.index(True)
        return not any(unknown[:first]) and sum(unknown[first:]) <= MOST_UNKNOWN

    def _is_talk(self) -> bool:
        part = self.part
        talks = ("social", "thanks", "like", "copula", "we", "nobody", "done", "le", "self", "aux", "it")
        stays = self.verb == "stop" and part.has("neg")
        only_names = part.has_only({PLAYERS, "you", "all"})
        return part.link == "because" or stays or only_names or part.has(*talks, "mine")
