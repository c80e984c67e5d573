"""Serve the part of the replay page on which raters mark steps of an episode, and store its marks.

With scripts, the part is sent again after each action. Without scripts, the whole page is loaded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from kitchen.play.models import Episode
from study.design.models import Study
from study.monitor import annotation_services as services
from study.monitor.study_episodes import study_episode
from study.participants.annotations import (
    LONGEST_NOTE,
    Annotation,
    AnnotationCode,
    EpisodeRating,
    is_revealed,
)
from study.researchers.permissions import has_right, study_page


@dataclass(frozen=True, slots=True)
class Lane:
    """The marks of one code by one rater, to be drawn above the steps."""

    label: str
    colour: str
    spans: tuple[tuple[int, int], ...]
    """The offset of the first step, and the number of steps."""


def annotation_context(request: HttpRequest, study: Study, episode: Episode, step: int) -> dict[str, Any]:
    """Return the template context of the panel. `step` is the number of steps taken at the shown place: the
    step after it is marked."""
    rater = study.raters.filter(user=request.user.pk).first()
    rating = EpisodeRating.objects.filter(rater=rater, episode=episode).first() if rater else None
    revealed = is_revealed(study)
    marks = services.visible_marks(study, request.user, episode.pk, revealed=revealed)
    own = [mark for mark in marks if rating and mark.rating_id == rating.pk]
    changes = bool(rater and rating and not rater.released_at and has_right(request.user, study, "edit"))
    return {
        "study": study,
        "episode_key": episode.key,
        "rater": rater,
        "rating": rating,
        "revealed": revealed,
        "changes": changes,
        "may_rate": has_right(request.user, study, "edit"),
        "codes": AnnotationCode.objects.filter(study=study, retired_at=None),
        "marks": marks,
        "own": len(own),
        "lanes": _lanes(marks),
        "marked_step": min(step + 1, episode.step),
        "steps": episode.step,
        "longest_note": LONGEST_NOTE,
        "next": _next(rating),
    }


def _lanes(marks: Sequence[Annotation]) -> list[Lane]:
    """Return one lane for each code and rater with a mark."""
    by_lane: dict[tuple[int, int], list[Annotation]] = {}
    for mark in marks:
        by_lane.setdefault((mark.code_id, mark.rating.rater.number), []).append(mark)
    return [
        Lane(
            f"{theirs[0].code}, rater {number}",
            theirs[0].code.colour,
            tuple((mark.first - 1, mark.last - mark.first + 1) for mark in theirs),
        )
        for (_, number), theirs in sorted(by_lane.items())
    ]


def _next(rating: EpisodeRating | None) -> UUID | None:
    """Return the key of the rater's next episode that is not done."""
    if rating is None:
        return None
    waiting = EpisodeRating.objects.filter(rater=rating.rater_id, done_at=None).exclude(pk=rating.pk)
    later = waiting.filter(pk__gt=rating.pk).first() or waiting.first()
    return later.episode.key if later else None


@study_page("results", ("POST",), to_send="edit")
def change_marks(request: HttpRequest, study: Study, episode: UUID) -> HttpResponseBase:
    """Carry out one action of a rater on an episode, and return the panel."""
    found = study_episode(study, episode)
    step = _number(request.POST.get("step", "")) or 0
    said, problem = "", ""
    try:
        said = _act(request, study, found)
    except services.AnnotationError as error:
        problem = str(error)
    if request.headers.get("HX-Request"):
        context = annotation_context(request, study, found, step)
        return render(
            request, "study/monitor/annotation_panel.html", {**context, "said": said, "refusal": problem}
        )
    if problem or said:
        (messages.error if problem else messages.success)(request, problem or said)
    address = reverse("study:staff-replay", args=[study.slug, found.key])
    return _back(address, step)


def _back(address: str, step: int) -> HttpResponse:
    return redirect(f"{address}?step={step}#annotation")


def _act(request: HttpRequest, study: Study, episode: Episode) -> str:
    """Carry out the action that the form names. Return what was done, for the user."""
    sent = request.POST
    where: dict[str, Any] = {"study": study, "user": request.user, "episode": episode}
    if "take" in sent:
        services.rating_take(**where)
        return "You rate this episode, too."
    if "done" in sent:
        services.rating_done(**where, done=sent["done"] == "yes")
        return "Done with this episode." if sent["done"] == "yes" else "Open again."
    if "undo" in sent:
        told = services.mark_remove(**where)
        return f"Removed: {told}." if told else "There is no mark to remove."
    if "remove" in sent:
        told = services.mark_remove(**where, mark_id=_number(sent["remove"]) or 0)
        return f"Removed: {told}." if told else "This mark was removed before."
    if "mark" in sent:
        kept = services.mark_note(**where, mark_id=_number(sent["mark"]) or 0, note=sent.get("note", ""))
        return "The note is kept." if kept else "This mark was removed before."
    first = _number(sent.get("first", ""))
    last = _number(sent.get("last", ""))
    if first is None or last is None:
        raise services.AnnotationError("Write numbers of steps.")
    mark = services.mark_make(**where, code_id=_number(sent.get("code", "")) or 0, first=first, last=last)
    return f"Marked: {mark}."


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None
