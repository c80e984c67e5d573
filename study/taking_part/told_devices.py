"""Which device a page was seen on, the size of its window, and how often it was out of sight: where a study
keeps that, and never before somebody has agreed.

The browser's name comes with each page. The rest the page tells (`static/js/device.js`), each time all that
it knows: a word that is lost, or comes twice, does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django import forms
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from study.people.devices import device_of
from study.people.models import PageVisit, Participant

MOST_PIXELS = 20_000
MOST_TIMES = 10_000
CLOCKS_APART = timedelta(minutes=1)
"""By which a browser's clock may have been set while a page was open."""


class ToldForm(forms.Form):
    """What a page tells of itself: whole numbers, none of them below 0."""

    page = forms.SlugField(max_length=12)
    position = forms.IntegerField(min_value=0, max_value=1000)
    width = forms.IntegerField(min_value=1, max_value=MOST_PIXELS)
    height = forms.IntegerField(min_value=1, max_value=MOST_PIXELS)
    times_away = forms.IntegerField(min_value=0, max_value=MOST_TIMES)
    away_ms = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    touched = forms.BooleanField(required=False)


def keeps_devices(person: Participant) -> bool:
    """Whether the study keeps devices, as they entered it, and they have agreed, if they are asked to."""
    design = person.version.blueprint
    agreed = person.consented_at is not None or not design.has("consent")
    return bool(design.meant("keeps_devices")) and agreed


def device_fields(request: HttpRequest, person: Participant) -> dict[str, Any]:
    """What is kept of the browser's name with a visit; nothing where nothing is kept."""
    if not keeps_devices(person):
        return {}
    return asdict(device_of(request.headers.get("User-Agent", "")))


def visit_told_of(person: Participant, page: str, position: int) -> PageVisit | None:
    """The visit that this page is to tell of; None where nothing is kept."""
    if not keeps_devices(person):
        return None
    return PageVisit.objects.filter(participant=person, page=page, position=position).first()


def device_told(*, request: HttpRequest, person: Participant) -> bool:
    """Keep what a page of this participant tells. False, and nothing changed, if the study does not keep it,
    it cannot be, or they never saw that page. Who tells less than is known changes nothing either."""
    form = ToldForm(request.POST)
    if not keeps_devices(person) or not form.is_valid():
        return False
    told = form.cleaned_data
    visit = visit_told_of(person, told["page"], told["position"])
    away = timedelta(milliseconds=told["away_ms"])
    if visit is None or away > timezone.now() - visit.opened_at + CLOCKS_APART:
        return False
    known = Q(times_away=None) | Q(times_away__lte=told["times_away"], away_ms__lte=told["away_ms"])
    PageVisit.objects.filter(known, pk=visit.pk).update(**_kept(request, told))
    return True


def _kept(request: HttpRequest, told: Mapping[str, Any]) -> dict[str, Any]:
    device = device_of(request.headers.get("User-Agent", ""))
    return {
        **asdict(device.touched() if told["touched"] else device),
        "window_width": told["width"],
        "window_height": told["height"],
        "times_away": told["times_away"],
        "away_ms": told["away_ms"],
    }
