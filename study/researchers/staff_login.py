"""Define the staff login: the form with the second factor, the lifetime of a login, and the lockout.

The lockout refuses logins after several failed attempts.
"""

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
"""Session key for the time of the last page, which is stored once a minute at most."""

NOWHERE = "0.0.0.0"  # noqa: S104 - nobody listens there
"""Replaces an address that cannot be read."""


class SlidingSession:
    """Middleware that extends the user's login with each request. Participants have no session and get
    none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Store the time in the session, which extends it, and pass the request on."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and SESSION_KEY in request.session:
            now = int(time.time())
            if now - request.session.get(SEEN, 0) >= SEEN_SECONDS:
                request.session[SEEN] = now
        return self.get_response(request)


class RequireSecondFactor:
    """Middleware that redirects staff without a required second factor to the page that sets it up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on to the next middleware. `process_view` does the check."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Return a redirect to the page that sets up a second factor, if the user must have one and has none.
        Otherwise return None."""
        page = request.resolver_match and request.resolver_match.view_name
        if page in OPEN_WITHOUT_FACTOR or not request.path.startswith(OURS):
            return None
        user = request.user
        lacking = user.is_authenticated and user.is_staff and lacks_factor(user)
        return redirect("study:staff-second-factor") if lacking else None


OURS = ("/staff/", "/admin/")
OPEN_WITHOUT_FACTOR = {"study:staff-second-factor", "study:staff-password", "admin:login", "admin:logout"}
"""Pages that stay open to staff who still have to set up a second factor."""


def is_session_active(key: str) -> bool:
    """Return whether the login with this session key still exists and has not expired."""
    return Session.objects.filter(session_key=key, expire_date__gt=timezone.now()).exists()


def end_sessions(user: Any, *, but: str | None) -> None:
    """End all logins of this user except the session `but`. Call this when a second factor is set up,
    because the other logins were made without it."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).exclude(session_key=but)
    theirs = [one.pk for one in alive.iterator() if one.get_decoded().get(SESSION_KEY) == str(user.pk)]
    Session.objects.filter(pk__in=theirs).delete()


def login_address(request: HttpRequest) -> str:
    """Return the network address under which failed logins are counted.

    For IPv6 it is the first address of the network. If the address cannot be read, it is `NOWHERE`. The
    result is always an address, as PostgreSQL requires.
    """
    address = client_address(request)
    return client_network(address).partition("/")[0] if address else NOWHERE


def forget_failures(user: User, **_: Any) -> None:
    """Delete the record of failed logins under the name of a user who has just logged in. This function is a
    signal receiver.

    Failed logins under other names from the same address still count. Otherwise a user could guess another
    user's password without limit.
    """
    AccessAttempt.objects.filter(username=user.get_username()).delete()


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """Return the page that is shown after too many wrong passwords for one user name or from one address.
    It says when to try again."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    answer = render(request, "study/researchers/locked_out.html", {"minutes": minutes}, status=429)
    answer["Retry-After"] = str(60 * minutes)
    return answer


class StaffLoginForm(AdminAuthenticationForm):
    """Login form that also requires the code of users who have set up a second factor."""

    code = forms.CharField(
        label="Code",
        required=False,
        max_length=40,
        help_text="Only if you have set up a second factor: the six digits of your app, or a recovery code.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autocapitalize": "none"}),
    )

    def clean(self) -> dict[str, Any]:
        """Check the password, then the code, and return the cleaned data. A wrong code counts as a failed
        login."""
        cleaned: dict[str, Any] = super().clean()
        user = self.get_user()
        if user is not None and not code_fits(user, cleaned.get("code", "")):
            self.user_cache = None
            who = {"username": user.get_username()}
            user_login_failed.send(sender=__name__, credentials=who, request=self.request)
            self.add_error(
                "code",
                "Enter the six digits that your app shows now, or a recovery code that you have not "
                "used yet. After a wrong code, wait a few seconds.",
            )
        return cleaned
