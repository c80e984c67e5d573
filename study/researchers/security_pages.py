"""Serve the page for a user's own second factor and, for superusers, the list of security events."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_variables

from study.researchers import second_factor as factor
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.models import SecurityEvent
from study.researchers.permissions import FORM_METHODS, staff_page, superuser_page
from study.researchers.reauthenticate import requires_password
from study.researchers.staff_login import end_sessions

HERE = "study:staff-second-factor"


@staff_page(FORM_METHODS)
@requires_password
def second_factor(request: HttpRequest) -> HttpResponse:
    """Show the page for the user's second factor, or handle its buttons: set up, confirm, renew recovery
    codes, remove."""
    if request.method != "POST":
        return _show(request)
    if "begin" in request.POST:
        factor.factor_begin(request.user)
    elif "code" in request.POST:
        return _confirmed(request, request.POST["code"])
    elif CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
    elif "codes" in request.POST and factor.has_factor(request.user):
        return _show(request, codes=factor.recovery_codes_make(request.user))
    elif "remove" in request.POST:
        factor.factor_remove(request.user)
        messages.success(request, "The second factor is removed: your password is enough to log in.")
    return redirect(HERE)


@sensitive_variables("code", "codes")
def _confirmed(request: HttpRequest, code: str) -> HttpResponse:
    codes = factor.factor_confirm(request.user, code)
    if codes:
        end_sessions(request.user, but=request.session.session_key)
        return _show(request, codes=codes)
    wrong = "This is not the code that the app shows now. Wait for the next code and enter its six digits."
    return _show(request, wrong=wrong)


def _show(request: HttpRequest, **more: Any) -> HttpResponse:
    device = factor.factor_begun(request.user)
    context = {
        "has": factor.has_factor(request.user),
        "lacks": factor.lacks_factor(request.user),
        "left": factor.recovery_codes_left(request.user),
        "picture": factor.qr_code_url(device) if device else "",
        "secret": factor.typed_secret(device) if device else "",
        **more,
    }
    status = 422 if more.get("wrong") else 200
    return render(request, "study/researchers/second_factor.html", context, status=status)


A_PAGE = 100
"""Number of events on one page."""


@superuser_page()
def security_events(request: HttpRequest) -> HttpResponse:
    """Show all security events, newest first."""
    events = Paginator(SecurityEvent.objects.all(), A_PAGE).get_page(request.GET.get("page"))
    return render(request, "study/researchers/security_events.html", {"events": events})
