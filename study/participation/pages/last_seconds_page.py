"""Show a participant the last seconds of the episode that they are rating, within the survey.

The page is in a frame of the survey, so that the scripts of the game do not meet the form. It is made from
the stored log, and only if the participant opens it.
"""

from __future__ import annotations

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET

from kitchen.contract.world_errors import WorldError
from kitchen.play.live.render_page import script_texts
from kitchen.play.models import Episode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.last_steps import last_steps, steps_within
from study.participants import next_page
from study.participants.models import Participant
from study.participation.language_choice import activate_language
from study.participation.page_progress import participant_of_key

SECONDS = 10
"""Seconds of play that are shown."""


def offers_last_seconds(person: Participant, place: next_page.CurrentPage) -> bool:
    """Return True if the survey on this page offers the last seconds of its episode."""
    current = place.round
    if place.page != "survey" or current is None or current.episode is None or not current.episode.step:
        return False
    return person.version.blueprint.condition(current.condition.key).rating_replay


def steps_shown(episode: Episode) -> int | None:
    """Return the number of steps that are shown of a turn-based episode. None if the episode has a clock,
    because its end is measured in seconds."""
    return None if episode.tick_ms else steps_within(episode, SECONDS)


@never_cache
@require_GET
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[arg-type] # it knows no views with arguments
def last_seconds(request: HttpRequest, key: str) -> HttpResponse:
    """Show the last seconds of the episode whose survey is the participant's page. If this is not offered
    now, redirect to the participant's page. Raises Http404 for an unknown key."""
    person = participant_of_key(key)
    if person is None:
        raise Http404(key)
    place = next_page.current_page(person)
    if not offers_last_seconds(person, place):
        return redirect(person)
    activate_language(request, person.study, person)
    assert place.round and place.round.episode  # noqa: S101 - as `offers_last_seconds` says
    for record in read_episode_records(Episode.objects.filter(pk=place.round.episode.pk)):
        try:
            shown = last_steps(record, place.round.seat, SECONDS)
        except (WorldError, UnknownNameError) as error:  # another version of the world
            raise Http404(key) from error
        context = {"shown": shown, "script_words": script_texts(scene=False)}
        return render(request, "study/participation/last_seconds.html", context)
    raise Http404(key)
