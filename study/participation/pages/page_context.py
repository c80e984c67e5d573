"""Build the template context that several participants' pages need, and render these pages."""

from __future__ import annotations

from typing import Any

from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kitchen.registry.world_registry import get_page
from kitchen.words.foreign_text import ForeignText, foreign_text
from kitchen.words.gettext_without_django import current_language
from study.design.blueprint import OWN_PAGES, blueprint_of
from study.design.condition_seats import is_shared
from study.design.markdown_html import to_html
from study.design.media_html import NO_MEDIA, ShownMedia
from study.design.models import Study
from study.design.page_and_item_order import progress
from study.design.piped_words import answer_words_of, filled_text, has_piped_words
from study.design.translated_texts import translated_design
from study.participants.models import Participant, Round
from study.participants.next_page import ParticipantProgress
from study.participants.participant_facts import participant_facts
from study.participants.staff_messages import unread_messages
from study.participation.idle_timeout import idle_clock


def page_response(
    request: HttpRequest, person: Participant, template: str, *, status: int = 200, **context: Any
) -> HttpResponse:
    """Return the response with a participant's page made from this template."""
    context = {"participant": person, "study": person.study, **context}
    if waiting := unread_messages(person):
        context |= {"messages_to_read": waiting, "newest_message": waiting[-1].pk}
    return render(request, f"study/participation/{template}.html", context, status=status)


def form_response(
    request: HttpRequest, person: Participant, template: str, form: Form, **context: Any
) -> HttpResponse:
    """Return the response with a participant's page that has this form. The status is 422 if the form has
    errors."""
    status = 422 if form.errors else 200
    return page_response(request, person, template, status=status, form=form, **context)


def part_context(person: Participant, kind: str) -> dict[str, Any]:
    """Return the template context of one part of the study: heading, text, progress and idle times. `kind`
    names the part, such as `guide`."""
    part = person.design.part(kind)
    return {
        "heading": part.title,
        "part_html": text_html(filled(person, part.text), media_for(person)),
        "idle": idle_clock(person),
        "progress": progress(person.design, kind),
        "shares": plays_with_people(person),
    }


MORE_LINE = "--more--"
"""A line of this text in a consent or a welcome separates what everybody reads at once from what they may
open."""


def folded_html(text: str, media: ShownMedia = NO_MEDIA) -> tuple[SafeString, SafeString]:
    """Return a researcher's text as HTML in two parts: before and after the line `MORE_LINE`. The second part
    is empty without such a line. `media` are the files that it may show."""
    short, _, rest = text.partition(f"\n{MORE_LINE}\n")
    if isinstance(text, ForeignText):
        short, rest = foreign_text(short, text.lang), foreign_text(rest, text.lang)
    return text_html(short, media), text_html(rest, media) if rest else SafeString()


def filled(person: Participant, text: str) -> str:
    """Return a researcher's text with this participant's own answers and results in place of the names in
    braces. Texts of designs from before such names stay as they are."""
    design = person.version.blueprint
    if design.format < OWN_PAGES or not has_piped_words(text):
        return text
    teams = {plan.key: plan.label for plan in person.design.conditions}
    shown = {item.key: answer_words_of(item, teams) for item in person.design.items}
    words = filled_text(text, participant_facts(ParticipantProgress(person), person.design), shown)
    return foreign_text(words, text.lang) if isinstance(text, ForeignText) else words


def plays_with_people(person: Participant) -> bool:
    """Return whether several people play in one episode in any condition of this study."""
    return any(map(is_shared, person.version.blueprint.conditions))


def media_for(person: Participant) -> ShownMedia:
    """Return the media files that this participant's texts show, with addresses under the participant's own
    link."""
    if not person.version.blueprint.media:
        return NO_MEDIA
    plans = {plan.name: plan for plan in person.design.media}
    return ShownMedia(plans, reverse("study:participant", args=[person.shown_key]) + "media/")


def text_html(text: str, media: ShownMedia = NO_MEDIA) -> SafeString:
    """Return a researcher's text as HTML. If the text is not in the page's language, the HTML has a `lang`
    attribute. `media` are the files that the text may show."""
    html = to_html(text, media)
    return format_html('<div lang="{}">{}</div>', text.lang, html) if isinstance(text, ForeignText) else html


def team_label(person: Participant, one: Round) -> str:
    """Return the name that participants see for the team of this round, in the participant's language."""
    assert one.episode  # noqa: S101 - asked of a round that is played
    labels = {plan.key: plan.label for plan in person.design.conditions}
    return labels.get(one.condition.key, one.episode.label)


def guest_reminder(request: HttpRequest, person: Participant) -> HttpResponse:
    """Return the page for a guest who tries to end or erase a participation. It says which proof is
    needed."""
    status = 403 if request.method == "POST" else 200
    return page_response(request, person, "withdraw_elsewhere", status=status)


def welcome_context(study: Study) -> dict[str, Any]:
    """Return the template context of the welcome page."""
    design = translated_design(blueprint_of(study), current_language())
    part = design.part("welcome")
    short, more = folded_html(part.text)
    return {
        "study": study,
        "heading": part.title or design.study["title"],
        "welcome_html": short,
        "more_html": more,
        "cover": next((cover for one in design.conditions if (cover := get_page(one.world).cover)), ""),
    }
