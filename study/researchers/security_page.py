"""The page of security events, for superusers: logins, tokens, downloads, studies opened, people erased."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.researchers.models import SecurityEvent
from study.researchers.permissions import superuser_page

A_PAGE = 100
"""Events on one page."""


@superuser_page()
def security_events(request: HttpRequest) -> HttpResponse:
    """All events, the newest first."""
    events = Paginator(SecurityEvent.objects.all(), A_PAGE).get_page(request.GET.get("page"))
    return render(request, "study/researchers/security_events.html", {"events": events})
