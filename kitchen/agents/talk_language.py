"""Tell a language model in which language it writes to people.

The condition names the language, or else it is that of people's pages. Prompts are in English. So a prompt
has no line about the language if people read English pages and the condition names none.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.organisation import Organisation

ENGLISH_NAMES: Mapping[str, str] = {"en": "English", "es": "Spanish", "zh-hans": "Chinese (simplified)"}
"""English names of the languages of pages, by code."""
LANGUAGE_LINE = """Write your messages in {language}, whatever language others write in.
Keep the words of the reply's form, and of commands and things in it, as they are."""


def language_lines(organisation: Organisation | None) -> list[str]:
    """Return the lines of a prompt that name the language of messages.

    There are none if no member may write to a person, or if the language needs no line.
    """
    if organisation is None or not organisation.people_are_written_to:
        return []
    code = organisation.talk_language or organisation.readers_language
    return LANGUAGE_LINE.format(language=ENGLISH_NAMES.get(code, code)).splitlines() if code else []
