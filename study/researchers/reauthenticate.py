"""Ask for the password again before data are destroyed or others are let in, unless it was given a short
while ago.
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
"""When the password was given last, in the session; and how long that holds."""


def note_password_given(request: HttpRequest | None, **_: Any) -> None:
    """The password was given just now (a handler of `user_logged_in`, too)."""
    if request is not None and hasattr(request, "session"):
        request.session[SURE_AT] = time.time()


def requires_password(view: Checked) -> Checked:
    """A view that destroys data or lets others in: nothing is done until the password was given a short while
    ago. Whoever has to give it comes back to the page with the button."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST" or _is_sure(request):
            return view(request, *args, **kwargs)
        return _ask(request)

    return checked


class ReauthenticateInAdmin:
    """Django's admin asks, too: before it deletes anything, and before it changes who gets in. It goes by the
    names of its pages, so that a page which is added is among them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """None: the page may go on; who is not logged in is dealt with there."""
        page = request.resolver_match
        if page is None or page.namespace != "admin" or request.method != "POST":
            return None
        asked = request.user.is_authenticated and _is_grave(page.url_name or "", request.POST)
        return _ask(request) if asked and not _is_sure(request) else None


def _is_grave(page: str, sent: Mapping[str, Any]) -> bool:
    """Whether this page of the admin deletes with what it is sent, or changes an account or a group."""
    confirmed = "action" in sent and "post" in sent  # what was ticked in a list
    ticked = any(name.endswith("-DELETE") for name in sent)  # a row within a form
    return page.endswith("_delete") or page.startswith("auth_") or confirmed or ticked


def _is_sure(request: HttpRequest) -> bool:
    return bool(time.time() - request.session.get(SURE_AT, 0) < SURE_SECONDS)


def _ask(request: HttpRequest) -> HttpResponse:
    """Give the password, and come back to the page with the button."""
    back = urlencode({"next": _safe(request, request.headers.get("referer", ""))})
    return redirect(f"{reverse('study:staff-password')}?{back}")


def _safe(request: HttpRequest, address: str) -> str:
    """An address of ours, or the first page of the console."""
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if ours else reverse("study:staff")


class PasswordForm(forms.Form):
    """One's own password."""

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
        """It is checked as at the login, and failures are counted there."""
        given, user = str(self.cleaned_data["password"]), self.request.user
        if authenticate(self.request, username=user.get_username(), password=given) != user:
            raise forms.ValidationError("This is not your password.")
        return given


@sensitive_post_parameters("password")
@staff_page(FORM_METHODS)
def password_page(request: HttpRequest) -> HttpResponse:
    """Asks for the password, and leads back to where the button is."""
    form = PasswordForm(request.POST or None, request=request)
    if request.method == "POST" and form.is_valid():
        note_password_given(request)
        messages.info(request, "Thank you. Nothing was done yet: press the button once more.")
        return redirect(_safe(request, request.GET.get("next", "")))
    status = 422 if form.errors else 200
    return render(request, "study/researchers/password.html", {"form": form}, status=status)
