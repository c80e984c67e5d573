"""Show participants a page that the researchers wrote themselves."""

from __future__ import annotations

import math
from functools import partial
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from study.design.own_pages import OwnPagePlan
from study.design.page_and_item_order import own_page, progress
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.session_breaks import DUE, session_break
from study.participants import next_page
from study.participants.current_breaks import current_break, waits_for_breaks
from study.participants.models import Participant
from study.participation.idle_timeout import idle_clock
from study.participation.page_progress import finish_page
from study.participation.pages.page_context import (
    filled,
    media_for,
    page_response,
    plays_with_people,
    text_html,
)
from study.participation.pages.survey_pages import ask_items


def own_page_view(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the page with its questions, or continue to the next page when the participant is done with it."""
    if person.version.blueprint.items_at(place.page):
        return ask_items(request, person, place, partial(_context, person, place.page), template="own_asked")
    if request.method == "POST":
        finish_page(participant_id=person.pk, page=place.page)
        return redirect(person)
    context = _context(person, place.page)
    page = own_page(person.design, place.page)
    if page and page.is_break:
        context |= _break_context(person, page)
        return page_response(request, person, "break", **context)
    return page_response(request, person, "own", **context)


def _context(person: Participant, name: str) -> dict[str, Any]:
    """Return the template context of a page that researchers wrote, by its name."""
    page = own_page(person.design, name)
    assert page  # noqa: S101 - the flow leads here for a page of the design only
    return {
        "page": page.page,
        "heading": page.title,
        "part_html": text_html(filled(person, page.text), media_for(person)),
        "idle": idle_clock(person),
        "progress": progress(person.design, page.page),
        "shares": plays_with_people(person),
    }


def _break_context(person: Participant, page: OwnPagePlan) -> dict[str, Any]:
    """Return what the page of a break also needs: its times, and the code of the session that ended with
    it. A guest, who is known only by a label in the link, sees no code."""
    found, now = current_break(person), timezone.now()
    state, opens_at = (found.state(now) if found else DUE), (found and found.opens_at) or now
    own = person.study.own_pages.filter(key=page.key).first()
    code = own.session_code if own and not person.as_guest else ""
    pattern = RECRUITMENT_PLACES[person.source].complete if code else ""
    example = session_break(page, page.key, now) if person.preview else None
    return {
        "pause": example or found,
        "is_example": bool(example),
        "is_due": state == DUE,
        "seconds": max(0, math.ceil((opens_at - now).total_seconds())),
        "waits": waits_for_breaks(person),
        "code": code,
        "leads_to": pattern.replace("{code}", quote(code)).replace("{label}", quote(person.label)),
    }
