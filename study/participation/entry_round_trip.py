"""Measure the round trip between a person's browser and the server before the person enters a study.

A script on the welcome page (`static/js/entry_trip.js`) sends some empty requests to `answer` and writes the
median of their times into the entry form. A study may refuse people whose round trip is too long
(`Study.max_round_trip_ms`), and its lobbies may pair people with similar ones (`Team.pairs_by_trip`). Until
the person has entered, nothing is stored.
"""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.play.turn.websocket_messages import MAX_ROUND_TRIP_MS
from study.design.models import Study

UNMEASURED = gettext_lazy(
    "Your connection could not be measured. Switch on JavaScript in your browser, load this page again, and "
    "press the button again. If this message comes back, try another browser or another network."
)


class RoundTripField(forms.IntegerField):
    """A hidden form field for the measured milliseconds. An invalid value counts as not measured."""

    widget = forms.HiddenInput(attrs={"data-trip": ""})

    def clean(self, value: object) -> int | None:
        """Return the milliseconds, at most `MAX_ROUND_TRIP_MS`; None if they are missing or invalid."""
        text = str(value or "").strip()
        is_number = text.isascii() and text.isdigit() and len(text) < 10
        return min(int(text), MAX_ROUND_TRIP_MS) if is_number else None


def measures_round_trip(study: Study) -> bool:
    """Return whether people's round trips are measured before they enter this study."""
    organisations = study.conditions.values_list("organisation", flat=True)
    return study.max_round_trip_ms is not None or any(each.get("pairs_by_trip") for each in organisations)


def is_missing(study: Study, round_trip_ms: int | None) -> bool:
    """Return whether the study needs a round trip that was not measured."""
    return study.max_round_trip_ms is not None and round_trip_ms is None


def is_too_slow(study: Study, round_trip_ms: int | None) -> bool:
    """Return whether this round trip is longer than the study allows."""
    limit = study.max_round_trip_ms
    return limit is not None and round_trip_ms is not None and round_trip_ms > limit


@never_cache
@require_GET
def answer(request: HttpRequest) -> HttpResponse:
    """Answer a request of the measuring script, with nothing and without a look at the database."""
    return HttpResponse(status=204)
