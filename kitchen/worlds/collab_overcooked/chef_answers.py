"""Answer plain sentences to the chef that plays by fixed rules: *What should I do next?*, *Who are you?*

The chef never tells the recipe: what it needs, it requests. Questions and refusals are recognised in three
languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kitchen.agents.plain_sentences.sentence_clauses import DOING, HELP, TALK
from kitchen.agents.talk_rules import ENGLISH_NAMES
from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import in_language
from kitchen.worlds.collab_overcooked.reference_trajectories import Macros
from kitchen.worlds.collab_overcooked.spoken_requests import brings, spoken_requests
from kitchen.worlds.collab_overcooked.work_names import refusal_words

ASKS_NEXT = "asks_next"
"""The code for a question about what the assistant should do. Its answer is a request, if one is due."""
QUESTIONS: Mapping[str, str] = {
    "who_i_am": r"who are you|are you the chef|qui[eé]n eres|eres (el|la) chef|你是谁|你是厨师",
    "keeps_recipe": r"recipe|receta|食谱|菜谱|配方|(what|which).*\b(steps|ingredients)\b"
    r"|qu[eé].*\b(pasos|ingredientes)\b|(什么|哪些)(步骤|食材|材料)",
    ASKS_NEXT: r"what (should|can|shall|do|must) (i|we)\b|what('s| is)? (next|now)|what do you (need|want)"
    r"|need (anything|something)"
    r"|how can i help|can i help|anything (else )?(for me|to do)|next step"
    r"|qu[eé] (hago|debo|puedo|necesitas|quieres|sigue|toca)|necesitas algo"
    r"|en qu[eé] (te )?ayudo|puedo ayudar"
    r"|我(该|应该|要|能|可以)?(做|干)(什么|啥|点什么)|下一步|接下来|你(还)?(需要|要)(什么|啥)|需要(我)?帮|帮你什么",
}
"""Patterns of questions, by the code of the answer. The first that fits counts."""
DECLINES = "you_choose"
"""The code of the answer to somebody who refuses a request."""
NOT_NOW = re.compile(
    r"^\W*(?:not now|ahora no(?: puedo)?|现在不(?:行|能|可以)?)(?!\s*\w)\W*(.*)$", re.IGNORECASE | re.DOTALL
)
"""A refusal, and what is refused. It has its end or a mark behind it: *Ahora no sé qué hago* is none."""
_PATTERNS = {code: re.compile(pattern, re.IGNORECASE) for code, pattern in QUESTIONS.items()}


def chef_answer(texts: Iterable[str]) -> str:
    """Return the code of the chef's answer to the last of these messages that has words; empty without
    words. The code `DOING` means: say what the chef does next."""
    said = [text.strip() for text in texts if text.strip()]
    return _answer_to(said[-1]) if said else ""


def declined_things(texts: Iterable[str], requested: Mapping[str, Macros]) -> frozenset[str]:
    """Return the things that these messages refuse to bring now: *Not now: Cut carrot*, *Do not bring the
    carrot*. `requested` has the requested commands of each thing that the chef needs."""
    return frozenset(thing for text in texts for thing in _declined(text.strip(), requested))


def _declined(text: str, requested: Mapping[str, Macros]) -> Iterator[str]:
    refusal = NOT_NOW.match(text)
    asked = spoken_requests(refusal[1] if refusal else text)
    named = {unit[-2][1] for unit in asked.units} if refusal else set()
    unwanted = set() if asked.units else asked.unwanted
    for thing, macros in requested.items():
        if thing in named or brings(macros, unwanted) or text in _refusals(macros):
            yield thing


def is_refusal_of(text: str, macros: Sequence[Command]) -> bool:
    """Return whether this text is what the button writes that refuses this work, in any language."""
    return bool(NOT_NOW.match(text)) and text.strip() in _refusals(macros)


def _refusals(macros: Sequence[Command]) -> Iterator[str]:
    """Yield the words of the button that refuses this work, in every language."""
    for language in ENGLISH_NAMES:
        with in_language(language):
            yield refusal_words(macros)


def _answer_to(text: str) -> str:
    if code := next((code for code, pattern in _PATTERNS.items() if pattern.search(text)), ""):
        return code
    if NOT_NOW.match(text):
        return DECLINES
    asked = spoken_requests(text)
    if asked.units or asked.stops:
        return "chef_cannot"
    if asked.unwanted:
        return DECLINES
    return {DOING: DOING, HELP: "chef_help", TALK: "all_right"}.get(asked.kind, "chef_unclear")
