"""Leave an episode out of the analysis, or take it back, from its replay page.

The round of everybody who played the episode is marked, and the action is recorded for each of them. The data
are kept. The same part of the page excludes a whole participant, with the action of the participant's page.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from kitchen.infra.storable_json import storable_text
from kitchen.play.models import Episode
from study.design.models import Study
from study.monitor.staff_actions import LONGEST, record_person_action
from study.monitor.study_episodes import study_episode
from study.participants.models import Participant, Round, StaffAction
from study.participants.participant_notifications import notify_staff
from study.participation.page_progress import lock_participant
from study.researchers.permissions import has_right, study_page

LONGEST_REASON = LONGEST - 20
"""The most characters of the reason. The record also says which round it is."""


class ReasonForm(forms.Form):
    """A form for why an episode is left out or taken back."""

    reason = forms.CharField(strip=True, max_length=LONGEST_REASON)


@transaction.atomic
def episode_set_left_out(*, study: Study, episode: Episode, user: User, reason: str, left_out: bool) -> int:
    """Leave the rounds of an episode out of the analysis, or take them back. Return the number of changed
    rounds."""
    reason, action = storable_text(reason.strip()), StaffAction.Action
    changed = 0
    for pk in sorted(Round.objects.filter(episode=episode).values_list("participant", flat=True)):
        try:
            person = lock_participant(pk)
        except Participant.DoesNotExist:  # withdrew meanwhile
            continue
        mine = person.rounds.filter(episode=episode, left_out_at__isnull=left_out)
        values = (timezone.now(), reason) if left_out else (None, "")
        for one in mine:
            person.rounds.filter(pk=one.pk).update(left_out_at=values[0], left_out_because=values[1])
            kind = action.LEAVE_OUT if left_out else action.TAKE_BACK
            record_person_action(person, user, kind, f"Round {one.position}: {reason}")
            notify_staff(person)
            changed += 1
    return changed


def exclusion_context(request: HttpRequest, study: Study, episode: Episode) -> dict[str, Any]:
    """Return the template context of the part of the replay page that excludes. It is empty for users who
    may not."""
    if not has_right(request.user, study, "edit"):
        return {}
    rounds = list(Round.objects.filter(episode=episode).select_related("participant"))
    people = {one.participant_id: one.participant for one in rounds}
    practised = Q(practice=episode) | Q(first_practice=episode) | Q(warm_up=episode)
    people |= {one.pk: one for one in Participant.objects.filter(practised, study=study)}
    return {
        "rounds": rounds,
        "left_out": next((one for one in rounds if one.left_out_at), None),
        "people": sorted(people.values(), key=lambda one: one.number),
        "longest_reason": LONGEST_REASON,
    }


@study_page("results", ("POST",), to_send="edit")
def exclude(request: HttpRequest, study: Study, episode: UUID) -> HttpResponse:
    """Leave the episode out of the analysis, or take it back, with a reason."""
    found, form = study_episode(study, episode), ReasonForm(request.POST)
    there = reverse("study:staff-replay", args=[study.slug, episode])
    if not form.is_valid():
        messages.error(request, f"Nothing was done: write why, in at most {LONGEST_REASON} characters.")
        return redirect(f"{there}#exclude")
    left_out = request.POST.get("way") != "back"
    changed = episode_set_left_out(
        study=study,
        episode=found,
        user=request.user,  # type: ignore[arg-type]
        reason=form.cleaned_data["reason"],
        left_out=left_out,
    )
    if not Episode.objects.filter(pk=found.pk).exists():
        messages.warning(request, "Nothing was changed: everybody in this episode withdrew meanwhile.")
        return redirect("study:staff-study", study.slug)
    if not changed:
        messages.warning(request, "Nothing was changed: it was already so.")
    elif left_out:
        messages.success(request, "The analysis leaves this episode out. Its data are kept.")
    else:
        messages.success(request, "The analysis includes this episode again.")
    return redirect(f"{there}#exclude")
