"""What the pages share: the words of a part, and forms that belong to the page that is on."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kitchen.words.speech import language
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.page_order import progress
from study.design.plan import is_shared
from study.design.texts import Foreign, told_in
from study.people.models import Participant, Round
from study.taking_part.idling import idle_clock
from study.words.markdown import to_html


def part_context(person: Participant, kind: str) -> dict[str, Any]:
    """Heading and words of one part, for its template."""
    part = person.design.part(kind)
    return {
        "participant": person,
        "study": person.study,
        "heading": part.title,
        "part_html": told_html(part.text),
        "idle": idle_clock(person),
        "progress": progress(person.design, kind),
        "shares": shares(person),
    }


def shares(person: Participant) -> bool:
    """Whether somebody plays with other people in this study."""
    return any(map(is_shared, person.version.blueprint.conditions))


def told_html(text: str) -> SafeString:
    """A researcher's text as HTML, which says its language where it is another one than the page's."""
    html = to_html(text)
    return format_html('<div lang="{}">{}</div>', text.lang, html) if isinstance(text, Foreign) else html


def team_label(person: Participant, one: Round) -> str:
    """What the team of a round is called, in their language."""
    assert one.episode  # noqa: S101 - asked of a round that is played
    labels = {plan.key: plan.label for plan in person.design.conditions}
    return labels.get(one.condition.key, one.episode.label)


def sent(request: HttpRequest, page: str) -> bool:
    """Whether this is the form of that page: a form of a page that is over changes nothing."""
    return request.method == "POST" and request.POST.get("page") == page


def elsewhere(request: HttpRequest, person: Participant) -> HttpResponse:
    """A guest would end or erase what is not known to be theirs: what else it takes."""
    context = {"participant": person, "study": person.study}
    status = 403 if request.method == "POST" else 200
    return render(request, "study/taking_part/withdraw_elsewhere.html", context, status=status)


def welcome_context(study: Study) -> dict[str, Any]:
    """What the page says that the study's link opens."""
    design = told_in(blueprint_of(study), language())
    part = design.part("welcome")
    return {
        "study": study,
        "heading": part.title or design.study["title"],
        "welcome_html": told_html(part.text),
    }
