"""Ask staff for their password again before they destroy data or grant access.

Staff who entered the password in the last ten minutes are not asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.debug import sensitive_post_parameters

from study.researchers.permissions import FORM_METHODS, Checked, staff_page

SURE_AT, SURE_SECONDS = "sure_at", 600
"""Session key for the time of the last password entry, and seconds for which that entry counts."""


def note_password_given(request: HttpRequest | None, **_: Any) -> None:
    """Record in the session that the user just entered the password. It is also a receiver of
    `user_logged_in`."""
    if request is not None and hasattr(request, "session"):
        request.session[SURE_AT] = time.time()


def requires_password(view: Checked) -> Checked:
    """Decorate a view that destroys data or grants access. POST requests then need a recent password entry.

    After entering the password, the user returns to the page with the button.
    """

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST" or _is_sure(request):
            return view(request, *args, **kwargs)
        return _ask(request)

    return checked


class ReauthenticateInAdmin:
    """Middleware that requires a recent password entry for deletions and account changes in Django's
    admin. It recognises such pages by their URL names. So pages that are added later are included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on. `process_view` does the check."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """Return a redirect to the password page, or None if no password is needed. Users who are not
        logged in get None, because the admin handles them."""
        page = request.resolver_match
        if page is None or page.namespace != "admin" or request.method != "POST":
            return None
        asked = request.user.is_authenticated and _is_grave(page.url_name or "", request.POST)
        return _ask(request) if asked and not _is_sure(request) else None


def _is_grave(page: str, sent: Mapping[str, Any]) -> bool:
    """Return True if this request to the admin site deletes something, or changes an account or a group. It
    then needs a recent password entry."""
    confirmed = "action" in sent and "post" in sent  # confirmed action on ticked rows of a list
    ticked = any(name.endswith("-DELETE") for name in sent)  # a row within a form
    return page.endswith("_delete") or page.startswith("auth_") or confirmed or ticked


def _is_sure(request: HttpRequest) -> bool:
    return bool(time.time() - request.session.get(SURE_AT, 0) < SURE_SECONDS)


def _ask(request: HttpRequest) -> HttpResponse:
    """Redirect to the page that asks for the password. From there, the user returns to the page from which
    the request came."""
    back = urlencode({"next": _safe(request, request.headers.get("referer", ""))})
    return redirect(f"{reverse('study:staff-password')}?{back}")


def _safe(request: HttpRequest, address: str) -> str:
    """Return the address if it is on this server. Otherwise return that of the console's first page."""
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if ours else reverse("study:staff")


class PasswordForm(forms.Form):
    """A form in which users enter their own password."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Give your password."},
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        """Return the password if it is right. Otherwise raise ValidationError, and count a failed login."""
        given, user = str(self.cleaned_data["password"]), self.request.user
        if authenticate(self.request, username=user.get_username(), password=given) != user:
            raise forms.ValidationError("This is not your password.")
        return given


@sensitive_post_parameters("password")
@staff_page(FORM_METHODS)
def password_page(request: HttpRequest) -> HttpResponse:
    """Show the page that asks for the user's password. After the right password, redirect to the page from
    which the user came."""
    form = PasswordForm(request.POST or None, request=request)
    if request.method == "POST" and form.is_valid():
        note_password_given(request)
        messages.info(request, "Thank you. Nothing has been done yet: press the button again.")
        return redirect(_safe(request, request.GET.get("next", "")))
    status = 422 if form.errors else 200
    return render(request, "study/researchers/password.html", {"form": form}, status=status)
