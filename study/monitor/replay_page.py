"""The replay of an episode for staff: the page of each seat as it was at any step, and what was thought.
It works without scripts; with them it plays by itself.

An episode of a study is read from the database. One of another installation comes with the request, and goes
along with each that follows: nothing of it is stored.
"""

from __future__ import annotations

import base64
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from kitchen.charts.vega import specification
from kitchen.contract.world import WorldError
from kitchen.machine.apart import ApartError
from kitchen.machine.downloads import named
from kitchen.play.models import Episode
from kitchen.play.script_words import script_words
from kitchen.registry.names import UnknownNameError
from kitchen.replaying.exported import GZIP, FileError, exported, packed, read_exported, strangers_file
from kitchen.replaying.moments import moments
from kitchen.replaying.record import Record, records_of
from kitchen.replaying.seen import seen_by, told_of
from kitchen.replaying.timeline import timeline
from study.analysis import drawing
from study.design.models import Study
from study.researchers.permissions import FORM, staff_page, study_page

LARGEST_PLAIN = 2_000_000
"""Bytes of a file that goes into one request as it is; `brigade/limits.py` says how large that may be."""
SPEEDS = (0.5, 1, 2, 4, 6, 12)
"""Steps a second."""
WRONG_FILE = "This file was not opened: {why}."
NO_FILE = "Choose a file first."


@study_page("view")
def replay(request: HttpRequest, study: Study, episode: UUID) -> HttpResponse:
    """An episode, or practice, of this study."""
    record = _stored(study, episode)
    return _show(request, record, {"study": study, "episode_key": episode})


@study_page("view")
def replay_file(request: HttpRequest, study: Study, episode: UUID) -> HttpResponseBase:
    """The episode as one JSON file, packed where it could not be opened here otherwise."""
    data, name, kind = exported(_stored(study, episode)), f"episode-{episode}.json", "application/json"
    if len(data) > LARGEST_PLAIN:
        data, name, kind = packed(data), f"{name}.gz", "application/gzip"
    return named(HttpResponse(data, content_type=kind), name)


@study_page("view")
def replay_timeline(request: HttpRequest, study: Study, episode: UUID, ending: str) -> HttpResponse:
    """The timeline of an episode as a file, or the table behind it as `html`, a part of its page."""
    if ending not in {*drawing.TYPES, "html"}:
        raise Http404(ending)
    try:
        chart = timeline(_stored(study, episode))
        if ending == "html":
            return render(request, "study/console/figure_table.html", {"chart": chart})
        return HttpResponse(drawing.chart_file(chart, ending), content_type=drawing.TYPES[ending])
    except UnknownNameError as error:
        raise Http404(ending) from error
    except ApartError:
        return HttpResponse("cannot be drawn now", status=503, headers={"Retry-After": "2"})


@staff_page(FORM)
def replay_opened(request: HttpRequest) -> HttpResponse:
    """An episode from a file: chosen here, or sent along by the page that shows it."""
    if request.method != "POST":
        return render(request, "study/monitor/replay_open.html")
    try:
        data = _sent(request)
        record = read_exported(data)
        carried = data if data.startswith(GZIP) else packed(data)
        with strangers_file():
            return _show(request, record, {"packed": base64.b64encode(carried).decode()})
    except FileError as error:
        context = {"problem": NO_FILE if not str(error) else WRONG_FILE.format(why=error)}
        return render(request, "study/monitor/replay_open.html", context, status=422)


def _sent(request: HttpRequest) -> bytes:
    """The file; FileError."""
    if file := request.FILES.get("file"):
        return bytes(file.read())
    try:
        data = base64.b64decode(request.POST.get("packed", ""), validate=True)
    except ValueError:
        raise FileError from None
    if not data:
        raise FileError
    return data


def _stored(study: Study, key: UUID) -> Record:
    theirs = Q(rounds__participant__study=study) | Q(practised_by__study=study)
    mine = Episode.objects.filter(theirs | Q(first_practised_by__study=study), key=key)
    found = get_object_or_404(Episode, pk__in=mine.values("pk"))
    for record in records_of(Episode.objects.filter(pk=found.pk)):
        return record
    raise Http404


def _show(request: HttpRequest, record: Record, more: Mapping[str, Any]) -> HttpResponse:
    """The page, or what of it changes with the step where only that is asked for."""
    asked = request.POST if request.method == "POST" else request.GET
    when = moments(record)
    kind = asked.get("kind", "")
    step = _step(record, asked, when.get(kind, sorted({n for steps in when.values() for n in steps})))
    seat = _seat(record, asked.get("seat", ""))
    context = {
        "record": record,
        "step": step,
        "steps": record.episode.step,
        "seat": seat,
        "kind": kind if kind in when else "",
        "moments": [(name, len(steps)) for name, steps in when.items()],
        "speeds": SPEEDS,
        "speed": _speed(record),
        "told": told_of(record, step + 1),
        "script_words": script_words(scene=False),
        **more,
    }
    try:
        context["seen"] = seen_by(record, seat, step)
    except (WorldError, UnknownNameError) as error:
        context["problem"] = error.args[0]
    if "part" in asked:
        return render(request, "study/monitor/replay_step.html", context)
    return render(request, "study/monitor/replay.html", {**context, **_timeline(record, more)})


def _timeline(record: Record, more: Mapping[str, Any]) -> dict[str, Any]:
    """The figure of the whole episode, where its world is known. Of one from a file, of which nothing has an
    address, its specification and table stand in the page."""
    try:
        chart = timeline(record)
    except UnknownNameError:
        return {}
    spec = specification(chart) if "packed" in more else None
    return {"chart": chart, "spec": spec, "kinds": drawing.OFFERED}


def _speed(record: Record) -> float:
    """About as it was played, where a clock took the steps; else one a second."""
    tick = record.episode.tick_ms
    return min(SPEEDS, key=lambda speed: abs(speed - 1000 / tick)) if tick else 1


def _seat(record: Record, asked: str) -> int:
    """The seat that is asked for, or the first of a person, or the first."""
    numbers = [seat.number for seat in record.seats]
    if asked.isdecimal() and int(asked) in numbers:
        return int(asked)
    return next((seat.number for seat in record.seats if seat.is_person), numbers[0])


def _step(record: Record, asked: Mapping[str, Any], moments: list[int]) -> int:
    """How many steps are taken where it is to be looked at. What happened in a step is seen before it."""
    said, last = asked.get("step", "0"), record.episode.step
    at = min(int(said), last) if said.isdecimal() and len(said) < 10 else 0
    before, after = bisect_left(moments, at + 1), bisect_right(moments, at + 1)
    places = {
        "first": 0,
        "back": max(0, at - 1),
        "forward": min(last, at + 1),
        "last": last,
        "earlier": moments[before - 1] - 1 if before else at,
        "later": moments[after] - 1 if after < len(moments) else at,
    }
    return places.get(asked.get("go", ""), at)
