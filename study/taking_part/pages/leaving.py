"""The two pages of leaving: what it means, and that it is done."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from study.design.recruitment import PLACES
from study.people.leaving import participant_withdraw
from study.people.models import Participant
from study.people.stored import GOING, settings_on
from study.people.took_part import NOT_AGAIN, PAID
from study.taking_part.pages.common import shares
from study.taking_part.pages.end import taken_away


def leaving(request: HttpRequest, person: Participant) -> HttpResponse:
    """What is erased and what stays, before anything is."""
    shared, on = shares(person), settings_on(person.study)
    going = [one for one in GOING if not one.setting or one.setting in on]
    context = {
        "participant": person,
        "study": person.study,
        "going": [gettext((shared and one.shared) or one.what) for one in going],
        "complete": person.status in PAID,
        "shares": shared,
        "not_again": person.status in NOT_AGAIN and bool(person.label),
    }
    return render(request, "study/taking_part/withdraw.html", context)


def left(request: HttpRequest, person: Participant) -> HttpResponse:
    """Everything is erased. Who had come to the end is shown the code once more.

    Participant.DoesNotExist if it was erased already.
    """
    taken = taken_away(person, person.label)
    receipt = participant_withdraw(participant_id=person.pk)
    context = {
        **taken,
        "study": person.study,
        "preview": person.preview,
        "receipt": receipt,
        "leaving": _leaving(person),
    }
    return render(request, "study/taking_part/withdrawn.html", context)


def _leaving(person: Participant) -> str:
    """What they do where they were sent from; empty for nothing."""
    words = PLACES[person.source].leaving
    return gettext(words) if words else ""
