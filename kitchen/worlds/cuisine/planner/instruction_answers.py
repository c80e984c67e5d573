"""Write the planner's answers to people's messages, in English or in the reader's language.

A message stores its sentences as parts: a code and its arguments. Pages translate the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kitchen.agents.plain_sentences.sentence_conditions import FREE, READY
from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import CODE_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_noop, in_english, ngettext, ngettext_noop
from kitchen.worlds.cuisine.display_text import (
    KitchenWords,
    join_sentence,
    list_names,
    readable_name,
    translated,
)
from kitchen.worlds.cuisine.planner.instruction_targets import Targets

ANSWER_CODE, PARTS_KEY, NAMES_KEY = "kitchen_planner", "parts", "names"
"""The code of these messages (`CODE_KEY`), the key of their parts, and the key of names that differ from
what `readable_name` makes of a code."""
Part = Sequence[Json]
"""A code and its arguments. Robots are seats, counted from 0."""
UNDERSTOOD, DOING, UNCLEAR, HELP, QUESTION = "understood", "doing", "unclear", "help", "question"
EXISTS, MISSING, LATE, DONE, WHICH_ONE, ALL_RIGHT = "exists", "missing", "late", "done", "which", "all_right"
UNTIL, NO_ROBOT = "until", "no_robot"

WHEN: Mapping[str, str] = {READY: "when_ready", FREE: "when_free"}
"""The code of the sentence about a task with a condition, by the state that it waits for."""

PLAIN_SENTENCES: Mapping[str, str] = {
    QUESTION: gettext_noop("I cannot answer that. I can tell you what I do now."),
    ALL_RIGHT: gettext_noop("All right."),
    "you_serve_all": gettext_noop("You serve the dishes."),
}
ROBOT_SENTENCES: Mapping[str, str] = {
    "chop": gettext_noop("{robot} chops {item}."),
    "cook": gettext_noop("{robot} cooks {item}."),
    "make": gettext_noop("{robot} makes {item}."),
    "fetch": gettext_noop("{robot} fetches {item}."),
    "serve": gettext_noop("{robot} serves {item}."),
    "free": gettext_noop("{robot} empties {place}."),
    MISSING: gettext_noop("There is no {item} now. {robot} fetches it as soon as there is some."),
    LATE: gettext_noop("{robot} could not do this: {item}."),
}
"""Sentences about one robot and one item or place."""
ITEM_SENTENCES: Mapping[str, str] = {
    "first": gettext_noop("{item} comes first."),
    "you_chop": gettext_noop("You chop {item}."),
    "you_cook": gettext_noop("You cook {item}."),
    "you_make": gettext_noop("You make {item}."),
    "you_fetch": gettext_noop("You fetch {item}."),
    "you_serve": gettext_noop("You serve {item}."),
    "you_use": gettext_noop("You use {place}."),
    EXISTS: gettext_noop("There is {item} already."),
    DONE: gettext_noop("Done: {item}."),
}
TEAM_SENTENCES: Mapping[str, tuple[str, str]] = {
    "stop": ngettext_noop("{robots} waits.", "{robots} wait."),
    "go_on": ngettext_noop("{robots} goes on.", "{robots} go on."),
    "not_make": ngettext_noop("{robots} does not make {item}.", "{robots} do not make {item}."),
    "not_take": ngettext_noop("{robots} does not take {item}.", "{robots} do not take {item}."),
    "not_use": ngettext_noop("{robots} does not use {place}.", "{robots} do not use {place}."),
    "not_serve": ngettext_noop("{robots} does not serve {item}.", "{robots} do not serve {item}."),
    NO_ROBOT: ngettext_noop("There is no {robots} here.", "There are no {robots} here."),
    "not_serve_all": ngettext_noop("{robots} does not serve dishes.", "{robots} do not serve dishes."),
}
"""Sentences about one or more robots, and perhaps an item or a place."""
EXAMPLES: Mapping[str, str] = {
    "chop": gettext_noop("{robot}: chop {item}"),
    "cook": gettext_noop("{robot}: cook {item}"),
    "make": gettext_noop("{robot}: make {item}"),
    "first": gettext_noop("{item} first"),
    "you_chop": gettext_noop("I chop {item}"),
    "you_cook": gettext_noop("I cook {item}"),
    "you_make": gettext_noop("I make {item}"),
    "avoid": gettext_noop("Don't make {item}"),
    "stop": gettext_noop("Stop"),
    "go_on": gettext_noop("Go on"),
    DOING: gettext_noop("What are you doing?"),
}
"""Sentences that people can write. The planner understands each of them in every language."""
CONDITIONS: Mapping[str, str] = {
    "when_ready": gettext_noop("When {item} is ready: {sentence}"),
    "when_free": gettext_noop("When {place} is free: {sentence}"),
}
"""Sentences about a task that waits for something."""
UNTIL_SENTENCE = gettext_noop("This holds until you write “{words}”.")
UNCLEAR_SENTENCE = gettext_noop("I did not understand that. Try, for example: “{first}” or “{second}”.")
HELP_SENTENCE = gettext_noop(
    "I understand sentences such as “{first}”, “{second}”, “{own}”, “stop”, “go on” and “what are you "
    "doing?”."
)


def answer_message(
    parts: Iterable[Part],
    brief: Mapping[str, Json],
    kind: str = SAY,
    to: tuple[int, ...] = (),
    data: Mapping[str, Json] | None = None,
) -> MessageDraft:
    """Return a message with these sentences. Its text is English; pages translate it by its parts. `data` is
    further data of the message."""
    listed = [list(part) for part in parts]
    names = {code: brief["names"][code] for code in _codes(listed) if code in brief["names"]}
    unusual = {code: name for code, name in names.items() if name != readable_name(code)}
    stored = {**(data or {}), CODE_KEY: ANSWER_CODE, PARTS_KEY: listed}
    stored |= {NAMES_KEY: unusual} if unusual else {}
    with in_english():
        return MessageDraft(answer_text(listed, unusual), kind, to, stored)


def _codes(value: Json) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _codes(each)


def translated_answer(message: TeamMessage) -> str:
    """Return the text of a message in the reader's language; empty if it is not one of these."""
    if message.data.get(CODE_KEY) != ANSWER_CODE:
        return ""
    return answer_text(message.data[PARTS_KEY], message.data.get(NAMES_KEY, {}))


def answer_text(parts: Iterable[Part], names: Mapping[str, str]) -> str:
    """Return the sentences of these parts in the reader's language."""
    words = KitchenWords(names)
    return " ".join(_sentence(words, str(code), arguments) for code, *arguments in parts)


def _sentence(words: KitchenWords, code: str, arguments: Sequence[Json]) -> str:
    if code in PLAIN_SENTENCES:
        return gettext(PLAIN_SENTENCES[code])
    if code in ROBOT_SENTENCES:
        seat, what = arguments
        text = gettext(ROBOT_SENTENCES[code])
        return _filled(text, words, what, robot=robot_name(seat))
    if code in TEAM_SENTENCES:
        seats, what = arguments
        text = ngettext(*TEAM_SENTENCES[code], len(seats))
        return _filled(text, words, what, robots=list_names([robot_name(seat) for seat in seats]))
    if code in ITEM_SENTENCES:
        return _filled(gettext(ITEM_SENTENCES[code]), words, arguments[0])
    return WRITERS[code](words, *arguments)


def _filled(text: str, words: KitchenWords, what: str, **names: str) -> str:
    """Return a sentence with its item or place, and its robots."""
    return sentence_case(join_sentence(text.format(item=words.mid(what), place=words.place(what), **names)))


def robot_name(seat: int) -> str:
    """Return the name of the robot in this seat, such as `Robot 2` for seat 1."""
    return gettext("Robot {number}").format(number=seat + 1)


def _understood_sentence(words: KitchenWords, *parts: Part) -> str:
    sentences = " ".join(_sentence(words, str(code), arguments) for code, *arguments in parts)
    return gettext("Understood: {sentences}").format(sentences=sentences)


def _doing_sentence(words: KitchenWords, seat: int, intent: Mapping[str, str]) -> str:
    place = intent.get("to", "")
    table = "intents_anywhere" if place and not place[-1].isdigit() else "intents"
    item, dish = words.mid(intent.get("item", "")), words.mid(intent.get("dish", ""))
    text = translated(table, intent["do"]).format(place=words.place(place), item=item, dish=dish)
    sentence = gettext("{robot}: {action}.").format(robot=robot_name(seat), action=text)
    return join_sentence(sentence)


def _choice_sentence(words: KitchenWords, *items: str) -> str:
    return gettext("Which one do you mean: {items}?").format(items=words.items(items))


def _unclear_sentence(words: KitchenWords, *examples: Part) -> str:
    first, second = (example_text(words, *example) for example in examples[:2])
    return gettext(UNCLEAR_SENTENCE).format(first=first, second=second)


def _help_sentence(words: KitchenWords, *examples: Part) -> str:
    first, second, own = (example_text(words, *example) for example in examples)
    return gettext(HELP_SENTENCE).format(first=first, second=second, own=own)


def _ready_sentence(words: KitchenWords, what: str, part: Part) -> str:
    return _conditional_sentence(words, "when_ready", what, part)


def _free_sentence(words: KitchenWords, what: str, part: Part) -> str:
    return _conditional_sentence(words, "when_free", what, part)


def _conditional_sentence(words: KitchenWords, code: str, what: str, part: Part) -> str:
    sentence = _sentence(words, str(part[0]), part[1:])
    return _filled(gettext(CONDITIONS[code]), words, what, sentence=sentence)


def _until_sentence(words: KitchenWords) -> str:
    return gettext(UNTIL_SENTENCE).format(words=example_text(words, "go_on", ""))


WRITERS: Mapping[str, Callable[..., str]] = {
    UNTIL: _until_sentence,
    "when_ready": _ready_sentence,
    "when_free": _free_sentence,
    UNDERSTOOD: _understood_sentence,
    DOING: _doing_sentence,
    WHICH_ONE: _choice_sentence,
    UNCLEAR: _unclear_sentence,
    HELP: _help_sentence,
}
"""Functions that write the sentences with other arguments, by code."""


def example_text(words: KitchenWords, code: str, what: str, seat: int = 0) -> str:
    """Return a sentence that a person can write, in the reader's language."""
    text = gettext(EXAMPLES[code]).format(robot=robot_name(seat), item=words.mid(what))
    return sentence_case(join_sentence(text))


def example_sentences(brief: Mapping[str, Json], orders: Sequence[str], seat: int) -> list[Part]:
    """Return three examples of sentences about the open orders, as parts: an order to the robot in this seat,
    a dish that comes first, and what the sender does. Without an order, they are about the first dish."""
    targets = Targets(brief, orders or brief["dishes"][:1])
    needed, dish = targets.needed(()), targets.orders[0]
    work = [work_words(brief, product) for product in needed] or [("make", dish)]
    verb, what = work[0]
    own, mine = work[1] if len(work) > 1 else work[0]
    return [[verb, what, seat], ["first", dish], [f"you_{own}", mine]]


def guide_examples(brief: Mapping[str, Json]) -> list[Part]:
    """Return examples of all that people can write, about the first dish of the kitchen, as parts."""
    dish = brief["dishes"][0]
    rest: list[Part] = [["avoid", dish], ["stop", ""], ["go_on", ""], [DOING, ""]]
    return [*example_sentences(brief, (), 1), *rest]


def work_words(brief: Mapping[str, Json], product: str) -> tuple[str, str]:
    """Return the verb and the item with which to name the work on a product: `chop` and the ingredient,
    `cook` and the ingredient, or `make` and the product."""
    recipe = brief["recipes"].get(product)
    verbs = {"chopboard": "chop", "pot": "cook"}
    if recipe and recipe["tool"] in verbs and len(recipe["ingredients"]) == 1:
        return verbs[recipe["tool"]], str(recipe["ingredients"][0])
    return "make", product
