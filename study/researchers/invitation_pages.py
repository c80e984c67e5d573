"""Serve the pages for staff logins: the administrators' list, and the page that an invitation leads to."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.forms import BaseUserCreationForm, SetPasswordForm
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from study.design.models import Study
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.invitations import (
    InvitationError,
    invitation_accept,
    invitation_find,
    invitation_make,
    invitation_revoke,
    recovery_accept,
    recovery_make,
)
from study.researchers.models import Membership, StaffInvitation
from study.researchers.permissions import FORM_METHODS, superuser_page
from study.researchers.reauthenticate import requires_password
from study.researchers.staff_login import end_sessions

HERE = "study:staff-logins"
BACKEND = "django.contrib.auth.backends.ModelBackend"


class InviteForm(forms.Form):
    """A form for an invitation: for whom, and the role in which studies."""

    name = forms.CharField(
        label="For whom",
        max_length=80,
        help_text="A name that you recognise, for the list of invitations.",
    )
    role = forms.ChoiceField(choices=Membership.Role.choices, initial=Membership.Role.COLLABORATOR)
    studies = forms.ModelMultipleChoiceField(
        Study.objects.all(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None: the person begins with studies of their own.",
    )


@superuser_page(FORM_METHODS)
@requires_password
def logins(request: HttpRequest) -> HttpResponse:
    """Show all staff logins and open invitations to administrators, or carry out one of the actions."""
    form = InviteForm(request.POST if "name" in request.POST else None)
    secret = ""
    if request.method == "POST" and "name" in request.POST:
        if form.is_valid():
            _, secret = invitation_make(by=request.user, **form.cleaned_data)
            form = InviteForm()
    elif request.method == "POST":
        secret = _act(request)
        if not secret:
            return redirect(HERE)
    context = {
        "form": form,
        "link": invitation_link(request, secret) if secret else "",
        "people": get_user_model().objects.filter(is_staff=True).order_by("username"),
        "invitations": open_invitations(),
    }
    status = 422 if form.errors else 200
    return render(request, "study/researchers/logins.html", context, status=status)


def open_invitations() -> QuerySet[StaffInvitation]:
    """Return the invitations that can still be used, newest first."""
    alive = StaffInvitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return alive.select_related("made_by").prefetch_related("studies")


def invitation_link(request: HttpRequest, secret: str) -> str:
    """Return the address of an invitation."""
    return request.build_absolute_uri(reverse("study:invitation", args=[secret]))


def _act(request: HttpRequest) -> str:
    """Carry out a button of the list. Return the secret of a recovery link, or an empty string."""
    sent = request.POST
    if CONFIRM_FIELD not in sent:
        messages.error(request, NOT_CONFIRMED)
    elif (pk := sent.get("revoke", "")).isdecimal():
        done = invitation_revoke(by=request.user, pk=int(pk))
        messages.success(request, "Taken back." if done else "It was used or taken back before.")
    elif (pk := sent.get("recover", "") or sent.get("switch", "")).isdecimal():
        user = get_object_or_404(User, pk=int(pk), is_staff=True)
        if user == request.user:
            messages.error(request, "Another administrator has to do this to your own login.")
        elif "recover" in sent:
            return recovery_make(by=request.user, user=user)
        else:
            _switch(request, user)
    return ""


def _switch(request: HttpRequest, user: User) -> None:
    """Lock a login, or unlock it. Locking ends all its sessions."""
    user.is_active = not user.is_active
    user.save(update_fields=["is_active"])
    if not user.is_active:
        end_sessions(user, but=None)
    messages.success(request, f"{user} {'can log in again' if user.is_active else 'can no longer log in'}.")


class NewLoginForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """A form in which an invited person chooses a user name and a password."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username",)


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show an invitation to the person who has its link. They choose a user name and password, or accept with
    their present login. A recovery link asks for a new password."""
    row = invitation_find(secret)
    if row is None:
        return _show(request, None, None, status=404)
    member = request.user if request.user.is_authenticated and request.user.is_staff else None
    sent = request.POST if request.method == "POST" else None
    form: Any = SetPasswordForm(row.user, sent) if row.user else NewLoginForm(sent)
    accepts = member and not row.user
    if sent is None or not (accepts or form.is_valid()):
        return _show(request, row, None if accepts else form, status=422 if sent is not None else 200)
    try:
        if row.user:
            user = recovery_accept(row=row, password=form.cleaned_data["new_password1"])
        elif member:
            invitation_accept(row=row, user=member)
            return redirect("study:staff")
        else:
            given = form.cleaned_data
            user = invitation_accept(row=row, username=given["username"], password=given["password1"])
    except InvitationError:
        return _show(request, None, None, status=404)
    login(request, user, backend=BACKEND)
    return redirect("study:staff")


def _show(request: HttpRequest, row: StaffInvitation | None, form: Any, *, status: int) -> HttpResponse:
    context = {"invitation": row, "form": form}
    response = render(request, "study/researchers/invitation.html", context, status=status)
    # The address is a secret, so it is no referrer. With `no-referrer`, browsers would send the form with
    # `Origin: null`, which Django refuses.
    response["Referrer-Policy"] = "strict-origin"
    return response
