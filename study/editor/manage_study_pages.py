"""Serve the pages on which staff create, copy, open, close, delete or preview a study, and manage members.

Members are the staff who may see or edit the study.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from study.analysis.pre_launch_warnings import first_warning
from study.design.counterbalancing import SchemeError
from study.design.demo_study_files import READY_STUDIES
from study.design.models import Condition, Study
from study.design.study_errors import DesignError, StudyClosedError
from study.editor.design_forms import MemberForm, NewStudyForm
from study.editor.design_services import (
    member_remove,
    member_set,
    study_close,
    study_copy,
    study_delete,
    study_open,
    study_ready,
    study_save,
)
from study.editor.new_study import BeginForm, RefusedFieldError, study_begin
from study.participants.models import Participant
from study.participation.language_choice import activate_language
from study.participation.pages.page_context import welcome_context
from study.pilot.previews import condition_preview, previews_erase, study_preview
from study.pilot.synthetic.synthetic_participants import request_synthetic_erasure
from study.researchers.form_and_button_pages import (
    CONFIRM_FIELD,
    NOT_CONFIRMED,
    confirmed_service_button,
    form_page,
    service_button,
)
from study.researchers.invitation_pages import invitation_link, open_invitations
from study.researchers.invitations import invitation_make, invitation_revoke, study_hand_over
from study.researchers.models import Membership, StaffInvitation
from study.researchers.permissions import FORM_METHODS, staff_page, study_page
from study.researchers.reauthenticate import requires_password

POST = ("POST",)


@staff_page(FORM_METHODS)
def new_study(request: HttpRequest) -> HttpResponse:
    """Show the form for a new study, or create the study with all that was chosen. It begins empty or with a
    ready-made design. The user becomes the study's owner.

    A new study with a ready-made design needs only its name.
    """
    if (
        request.method == "POST"
        and "title" not in request.POST
        and request.POST.get("begins_as") in READY_STUDIES
    ):
        made = study_ready(name=request.POST["begins_as"], owner=request.user)
        return redirect("study:staff-design", made.slug)
    form = BeginForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = study_begin(form, owner=request.user)
        except RefusedFieldError as error:
            form.add_error(error.field, str(error))
        else:
            return redirect("study:staff-design", made.slug)
    template = "study/editor/new_study.html"
    return form_page(request, None, form, heading="A new study", submit="Make the study", template=template)


@study_page("copy", FORM_METHODS)
def copy_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form to copy a study's design under another link, or make the copy. The user becomes the
    owner of the copy."""
    initial = {"title": f"{study.title[:113]} (copy)", "slug": f"{study.slug[:45]}-copy"}
    form = NewStudyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        made = study_copy(study, owner=request.user, **form.cleaned_data)
        messages.success(
            request,
            f"“{made.title}” is now your study: it has the whole design, is closed, and has no participants.",
        )
        return redirect("study:staff-design", made.slug)
    return form_page(request, study, form, heading="Copy this study", submit="Make the copy")


@study_page("edit", POST)
def study_state(request: HttpRequest, study: Study) -> HttpResponse:
    """Open or close the study."""
    if request.POST.get("state") == Study.Status.OPEN:
        act, words, mind = study_open, "The link takes participants.", first_warning(study)
    else:
        act, words, mind = (
            study_close,
            "The study is closed to new participants. People who are playing can finish.",
            "",
        )
    return service_button(request, study, lambda: act(study_id=study.pk, by=request.user), words, mind=mind)


@study_page("own", POST)
@requires_password
def delete_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete the whole study, if the user typed the study's link name to confirm."""
    if request.POST.get("confirm", "").strip() != study.slug:
        messages.error(request, f"Nothing was deleted. To delete it, type {study.slug}.")
        return redirect("study:staff-design-members", study.slug)
    try:
        study_delete(study_id=study.pk)
    except DesignError as error:
        messages.error(request, str(error))
        return redirect("study:staff-design-members", study.slug)
    messages.success(request, f"“{study.title}” is deleted.")
    return redirect("study:staff")


@study_page("own", FORM_METHODS)
def members(request: HttpRequest, study: Study) -> HttpResponse:
    """Manage the members' roles. The page also has the button that deletes the study."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user, role = form.cleaned_data["user"], form.cleaned_data["role"]
        words = f"{user} is {Membership.Role(role).value} now."
        return service_button(
            request,
            study,
            lambda: member_set(study_id=study.pk, user=user, role=role),
            words,
            "design-members",
        )
    return _members_page(request, study, form)


def _members_page(request: HttpRequest, study: Study, form: MemberForm, link: str = "") -> HttpResponse:
    """Return the page of members. It shows a new invitation's `link` once."""
    more: dict[str, Any] = {
        "members": study.memberships.select_related("user"),
        "submit": "Give the role",
        "outside": True,
        "roles": Membership.Role.choices,
        "link": link,
        "invitations": _own_invitations(request, study),
    }
    template = "study/editor/members.html"
    return form_page(request, study, form, heading="Members", template=template, **more)


def _own_invitations(request: HttpRequest, study: Study) -> QuerySet[StaffInvitation]:
    """Return the open invitations to this study that the user made; for administrators, all."""
    found = open_invitations().filter(studies=study)
    return found if request.user.is_superuser else found.filter(made_by=request.user.pk)


def _take_back(request: HttpRequest, study: Study, given: str) -> HttpResponse:
    row = _own_invitations(request, study).filter(pk=int(given) if given.isdecimal() else 0).first()
    if CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
    elif row and invitation_revoke(by=request.user, pk=row.pk):
        messages.success(request, "Taken back.")
    else:
        messages.warning(request, "It was used or taken back before.")
    return redirect("study:staff-design-members", study.slug)


@study_page("own", FORM_METHODS)
@requires_password
def invite_member(request: HttpRequest, study: Study) -> HttpResponse:
    """Make an invitation link for somebody who has no login here, with a role in this study. Or take one
    back."""
    if "revoke" in request.POST:
        return _take_back(request, study, request.POST["revoke"])
    name, role = request.POST.get("name", "").strip()[:80], request.POST.get("role", "")
    if not name or role not in Membership.Role.values:
        if request.method == "POST":
            messages.error(request, "Nothing was done: say for whom the link is.")
        return redirect("study:staff-design-members", study.slug)
    _, secret = invitation_make(by=request.user, name=name, role=role, studies=[study])
    return _members_page(request, study, MemberForm(), invitation_link(request, secret))


@study_page("own", FORM_METHODS)
@requires_password
def hand_over(request: HttpRequest, study: Study) -> HttpResponse:
    """Make another member who can log in the owner, and the present owner a viewer, if the user confirmed
    it."""
    pk = request.POST.get("member", "")
    others = study.memberships.filter(user__is_active=True, user__is_staff=True).exclude(user=request.user.pk)
    member = others.select_related("user").filter(pk=int(pk) if pk.isdecimal() else 0).first()
    if member and "sure" in request.POST:
        study_hand_over(study=study, by=request.user, to=member.user)
        is_member = study.memberships.filter(user=request.user.pk).exists()
        you = " You are a viewer." if is_member else ""
        messages.success(request, f"{member.user} owns the study now.{you}")
        return redirect("study:staff-study", study.slug)
    if request.method == "POST":
        messages.error(request, "Nothing was done: choose a member and tick the box.")
    return redirect("study:staff-design-members", study.slug)


@study_page("own", POST)
def conceal_conditions(request: HttpRequest, study: Study) -> HttpResponse:
    """Conceal the conditions of participants from members who do not own the study, or show them again."""
    study.conceals_allocation = request.POST.get("conceal") == "yes"
    words = "All members see conditions and results."
    if study.conceals_allocation:
        words = "Only owners see conditions and results until one of them shows these again."
    save = partial(study_save, study=study, fields=["conceals_allocation"])
    return service_button(request, study, save, words, "design-members")


@study_page("own", POST)
def remove_member(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Remove the member with this membership id from the study, if the user confirmed it."""
    user = get_object_or_404(study.memberships.select_related("user"), pk=pk).user
    words = f"{user} is no longer a member."
    return confirmed_service_button(
        request, study, lambda: member_remove(study_id=study.pk, user=user), words, "design-members"
    )


@study_page("edit", FORM_METHODS)
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study's welcome page as participants see it, in the language that they would get. Its button
    starts a preview of the whole study."""
    language = activate_language(request, study)
    if request.method != "POST":
        return render(
            request, "study/participation/welcome.html", {**welcome_context(study), "preview": True}
        )
    return _start_preview(request, study, lambda: study_preview(study_id=study.pk, language=language))


@study_page("edit", POST)
def preview_condition(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Start a preview of one condition, in the language that the welcome page would have."""
    row = get_object_or_404(Condition, study=study, pk=pk)
    language = activate_language(request, study)
    return _start_preview(request, study, lambda: condition_preview(condition=row, language=language))


def _start_preview(request: HttpRequest, study: Study, begin: Callable[[], Participant]) -> HttpResponse:
    try:
        return redirect(begin())
    except (StudyClosedError, SchemeError) as error:
        closed = isinstance(error, StudyClosedError)
        messages.error(request, "There is no condition to play yet." if closed else str(error))
        return redirect("study:staff-design", study.slug)


@study_page("edit", POST)
@requires_password
def erase_previews(request: HttpRequest, study: Study) -> HttpResponse:
    """Erase the data of all previews of the study, and redirect."""
    words = "The data of previews are erased."
    return confirmed_service_button(request, study, lambda: previews_erase(study_id=study.pk), words)


@study_page("own", POST)
@requires_password
def erase_synthetic(request: HttpRequest, study: Study) -> HttpResponse:
    """Queue a background task that erases the data of synthetic participants."""
    words = "The synthetic participants are being erased; load this page again to see how many are left."
    return confirmed_service_button(
        request, study, lambda: request_synthetic_erasure(study_id=study.pk), words
    )
