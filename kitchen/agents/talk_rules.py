"""Tell a language model how it may write to others: in which language, how often, and at what cost.

The condition names the language, or else it is that of people's pages. Prompts are in English. So a prompt
has no line about the language if people read English pages and the condition names none.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.organisation import Organisation
from kitchen.contract.organisation_settings import NEVER

ENGLISH_NAMES: Mapping[str, str] = {"en": "English", "es": "Spanish", "zh-hans": "Chinese (simplified)"}
"""English names of the languages of pages, by code."""
LANGUAGE_LINE = """Write your messages in {language}, whatever language others write in.
Keep the words of the reply's form, and of commands and things in it, as they are."""
ONLY_ANSWERS = "Write a message only to answer one: others do not get any other message of yours."
SELDOM = """Unless you answer a message, write at most one in {steps} steps: others do not get more of them.
Choose what is worth it."""
TAKES_STEP_LINE = """A message takes your step: in a step in which you write, you do nothing else.
Write only if it helps more than an action."""


def talk_rule_lines(organisation: Organisation | None) -> list[str]:
    """Return the lines of a prompt about how often its model may write, and in which language.

    There are none where nothing is limited, and none about the language if no member may write to a person,
    or if the language needs no line.
    """
    if organisation is None:
        return []
    lines = [*_limit_lines(organisation), *_cost_lines(organisation)]
    if not organisation.people_are_written_to:
        return lines
    code = organisation.talk_language or organisation.readers_language
    named = LANGUAGE_LINE.format(language=ENGLISH_NAMES.get(code, code)).splitlines() if code else []
    return [*lines, *named]


def _cost_lines(organisation: Organisation) -> list[str]:
    is_charged = organisation.takes_step and not organisation.is_silent
    return TAKES_STEP_LINE.splitlines() if is_charged else []


def _limit_lines(organisation: Organisation) -> list[str]:
    if not organisation.unasked or organisation.is_silent:
        return []
    if organisation.unasked == NEVER:
        return [ONLY_ANSWERS]
    return SELDOM.format(steps=organisation.unasked).splitlines()
