"""Which view shows which page behind a personal link."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from study.people import flow
from study.people.models import Participant
from study.taking_part.pages import asking, check, consent, end, lobby, playing, reading, waiting

PAGES: dict[str, Callable[[HttpRequest, Participant, flow.CurrentPage], HttpResponse]] = {
    "about": asking.about,
    "check": check.check,
    "consent": consent.consent,
    "debriefing": reading.debriefing,
    "end": end.end,
    "final": asking.final,
    "guide": reading.guide,
    "lobby": lobby.lobby,
    "play": playing.play,
    "practice": playing.practice,
    "survey": asking.survey,
    "waiting": waiting.waiting,
}
"""By the name of the page."""
