"""The check of understanding: a few attempts, then what the researcher has chosen."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from study.people import flow
from study.people.models import Participant
from study.taking_part.answering import check_submit, next_attempt, wrong_keys
from study.taking_part.going_on import with_design
from study.taking_part.item_forms import ItemsForm
from study.taking_part.pages.asking import items_for
from study.taking_part.pages.common import part_context, sent
from study.taking_part.pages.reading import guide_context


def check(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The questions; after a wrong attempt, which ones were wrong and how many attempts are left."""
    attempt = next_attempt(person)
    is_sent = sent(request, "check") and request.POST.get("attempt") == str(attempt)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place))
    if is_sent and form.is_valid():
        right = check_submit(participant_id=person.pk, values=form.values(), attempt=attempt)
        if right is not False or flow.place_of(with_design().get(pk=person.pk)).page != "check":
            return redirect(person)
        return _wrong(request, person, place, form, attempt)
    if request.method == "POST" and not is_sent:
        return redirect(person)
    return _show(request, person, place, form, attempt, status=422 if form.errors else 200)


def _wrong(
    request: HttpRequest, person: Participant, place: flow.CurrentPage, form: ItemsForm, attempt: int
) -> HttpResponse:
    for key in wrong_keys(person, form.values()):
        form.add_error(f"item_{key}", gettext("This is not right. Read the guide again and think once more."))
    return _show(request, person, place, form, attempt + 1, status=422, wrong=True)


def _show(
    request: HttpRequest,
    person: Participant,
    place: flow.CurrentPage,
    form: ItemsForm,
    attempt: int,
    *,
    status: int,
    wrong: bool = False,
) -> HttpResponse:
    attempts = person.design.part("check").settings["attempts"]
    context = (
        part_context(person, "check")
        | guide_context(person, place)
        | {
            "form": form,
            "page": "check",
            "position": 0,
            "attempt": attempt,
            "left": attempts - attempt + 1,
            "wrong": wrong,
        }
    )
    return render(request, "study/taking_part/check.html", context, status=status)
