"""Translate the sentences that agents without a language model write.

They are stored in English. Pages show them in the language of the condition's talk, or else in the reader's.
"""

from __future__ import annotations

from dataclasses import replace

from kitchen.contract.organisation import ANSWER
from kitchen.contract.page import Page
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import CODE_KEY, ONLY_JOBS, TeamMessage
from kitchen.words.gettext_without_django import current_language, gettext, gettext_noop, in_language

AGENT_MESSAGES = {
    ONLY_JOBS: gettext_noop("I do not read messages. I do the jobs that are chosen for me from the list."),
}
"""Answers of agents without a language model, by code."""


def agent_sentence(page: Page, view: SeatView, message: TeamMessage) -> str:
    """Return the text of a message in the language of this person's team. Return an empty text if the message
    is not one of an agent's fixed sentences."""
    with in_language(view.talk.language):
        if message.kind == ANSWER and (own := AGENT_MESSAGES.get(message.data.get(CODE_KEY, ""))):
            return gettext(own)
        return page.translated_message(message)


def shown_message(page: Page, view: SeatView, message: TeamMessage) -> TeamMessage:
    """Return the message with the text that a page shows, where the condition sets the language of talk."""
    text = agent_sentence(page, view, message) if view.talk.language else ""
    return replace(message, text=text) if text else message


def foreign_language(view: SeatView) -> str:
    """Return the code of the language of talk if it is another one than the page's. Else return an empty
    text."""
    return "" if view.talk.language == current_language() else view.talk.language


def written_language(view: SeatView, sender: int | None) -> str:
    """Return the code of the language in which the member `sender` writes in its own words. Return an empty
    text if it is not known, as for a person."""
    return "" if sender in view.talk.people else view.talk.language
