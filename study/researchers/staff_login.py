"""Staff login: the form with the second factor, session lifetime, and lockout after failed attempts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from axes.models import AccessAttempt
from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from kitchen.infra.client_address import client_address, client_network
from study.researchers.second_factor import code_fits, lacks_factor

SEEN, SEEN_SECONDS = "seen", 60
"""When a page was opened last is noted in the session, once a minute at most."""

NOWHERE = "0.0.0.0"  # noqa: S104 - nobody listens there
"""Stands for an address that cannot be read."""


class SlidingSession:
    """Each page that is opened makes a login last for `SESSION_COOKIE_AGE` from then on. Who has no session
    is not asked for one: participants have none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer; the session is stored with it, and then ends later."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and SESSION_KEY in request.session:
            now = int(time.time())
            if now - request.session.get(SEEN, 0) >= SEEN_SECONDS:
                request.session[SEEN] = now
        return self.get_response(request)


class SecondFactor:
    """Staff who still have to set up a second factor are led there from all of their pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """None: the page is open."""
        page = request.resolver_match and request.resolver_match.view_name
        if (
            not settings.SECOND_FACTOR_REQUIRED
            or page in OPEN_WITHOUT_FACTOR
            or not request.path.startswith(OURS)
        ):
            return None
        user = request.user
        lacking = user.is_authenticated and user.is_staff and lacks_factor(user)
        return redirect("study:staff-second-factor") if lacking else None


OURS = ("/staff/", "/admin/")
OPEN_WITHOUT_FACTOR = {"study:staff-second-factor", "study:staff-password", "admin:login", "admin:logout"}
"""What is open to whoever still has to set one up."""


def is_session_active(key: str) -> bool:
    """Whether this login has neither been ended nor run out."""
    return Session.objects.filter(session_key=key, expire_date__gt=timezone.now()).exists()


def end_sessions(user: Any, *, but: str | None) -> None:
    """End every login of this user but this one: they were made without the second factor."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).exclude(session_key=but)
    theirs = [one.pk for one in alive.iterator() if one.get_decoded().get(SESSION_KEY) == str(user.pk)]
    Session.objects.filter(pk__in=theirs).delete()


def login_address(request: HttpRequest) -> str:
    """From where somebody logs in, as failures are counted: an address, which is all that PostgreSQL keeps
    there. The first one of an IPv6 network stands for it, `NOWHERE` for what cannot be read."""
    address = client_address(request)
    return client_network(address).partition("/")[0] if address else NOWHERE


def forget_failures(user: User, **_: Any) -> None:
    """Receiver: who has logged in was allowed to mistype. What was tried at other names stays counted, from
    the same address too: else whoever has a login could guess at another's for ever."""
    AccessAttempt.objects.filter(username=user.get_username()).delete()


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """Too many wrong passwords for a name or from an address: come back later."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    answer = render(request, "study/researchers/locked_out.html", {"minutes": minutes}, status=429)
    answer["Retry-After"] = str(60 * minutes)
    return answer


class StaffLoginForm(AdminAuthenticationForm):
    """Nobody is logged in by the password alone who has set up a second factor."""

    code = forms.CharField(
        label="Code",
        required=False,
        max_length=40,
        help_text="Only if you have set up a second factor: the six digits of your app, or a recovery code.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autocapitalize": "none"}),
    )

    def clean(self) -> dict[str, Any]:
        """The password first; then the code. A wrong code counts as a failed login."""
        cleaned: dict[str, Any] = super().clean()
        user = self.get_user()
        if user is not None and not code_fits(user, cleaned.get("code", "")):
            self.user_cache = None
            who = {"username": user.get_username()}
            user_login_failed.send(sender=__name__, credentials=who, request=self.request)
            self.add_error(
                "code",
                "Give the six digits that your app shows now, or a recovery code that you have not used yet. "
                "After a wrong one, wait some seconds.",
            )
        return cleaned
