"""Show participants a page that the researchers wrote themselves."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from study.design.page_and_item_order import own_page, progress
from study.participants import next_page
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


def own_page_view(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the page, or continue to the next page when the participant is done with it."""
    if request.method == "POST":
        finish_page(participant_id=person.pk, page=place.page)
        return redirect(person)
    page = own_page(person.design, place.page)
    assert page  # noqa: S101 - the flow leads here for a page of the design only
    context: dict[str, Any] = {
        "page": page.page,
        "heading": page.title,
        "part_html": text_html(filled(person, page.text), media_for(person)),
        "idle": idle_clock(person),
        "progress": progress(person.design, page.page),
        "shares": plays_with_people(person),
    }
    return page_response(request, person, "own", **context)
