"""The replay page of an episode for staff: each seat's page at any step, and the agents' reasoning. It
works without scripts; with them it plays by itself.

An episode of a study is read from the database. One of another installation is uploaded with the
request, and sent again with each that follows. Nothing of it is stored.
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

from kitchen.charts.vega_charts import vega_specification
from kitchen.contract.world import WorldError
from kitchen.infra.file_downloads import as_attachment
from kitchen.infra.process_pool import ProcessPoolError
from kitchen.play.live.render_page import script_texts
from kitchen.play.models import Episode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.replay.episode_file import (
    GZIP,
    EpisodeFileError,
    export_episode,
    gzip_bytes,
    read_episode_file,
    untrusted_file_errors,
)
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.episode_timeline import event_steps, timeline_chart
from kitchen.replay.replay_view import report_step, seat_page_after
from study.analysis import figure_files
from study.design.models import Study
from study.researchers.permissions import FORM_METHODS, staff_page, study_page

LARGEST_PLAIN = 2_000_000
"""Bytes of a file that goes into one request as it is; `brigade/connection_limits.py` says how large that may
be."""
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
    data, name, kind = export_episode(_stored(study, episode)), f"episode-{episode}.json", "application/json"
    if len(data) > LARGEST_PLAIN:
        data, name, kind = gzip_bytes(data), f"{name}.gz", "application/gzip"
    return as_attachment(HttpResponse(data, content_type=kind), name)


@study_page("view")
def replay_timeline(request: HttpRequest, study: Study, episode: UUID, ending: str) -> HttpResponse:
    """The timeline of an episode as a file, or the table behind it as `html`, a part of its page."""
    if ending not in {*figure_files.FIGURE_TYPES, "html"}:
        raise Http404(ending)
    try:
        chart = timeline_chart(_stored(study, episode))
        if ending == "html":
            return render(request, "study/console/figure_table.html", {"chart": chart})
        return HttpResponse(
            figure_files.chart_file(chart, ending), content_type=figure_files.FIGURE_TYPES[ending]
        )
    except UnknownNameError as error:
        raise Http404(ending) from error
    except ProcessPoolError:
        return HttpResponse("cannot be drawn now", status=503, headers={"Retry-After": "2"})


@staff_page(FORM_METHODS)
def replay_opened(request: HttpRequest) -> HttpResponse:
    """An episode from a file: chosen here, or sent along by the page that shows it."""
    if request.method != "POST":
        return render(request, "study/monitor/replay_open.html")
    try:
        data = _sent(request)
        record = read_episode_file(data)
        carried = data if data.startswith(GZIP) else gzip_bytes(data)
        with untrusted_file_errors():
            return _show(request, record, {"packed": base64.b64encode(carried).decode()})
    except EpisodeFileError as error:
        context = {"problem": NO_FILE if not str(error) else WRONG_FILE.format(why=error)}
        return render(request, "study/monitor/replay_open.html", context, status=422)


def _sent(request: HttpRequest) -> bytes:
    """The file; FileError."""
    if file := request.FILES.get("file"):
        return bytes(file.read())
    try:
        data = base64.b64decode(request.POST.get("packed", ""), validate=True)
    except ValueError:
        raise EpisodeFileError from None
    if not data:
        raise EpisodeFileError
    return data


def _stored(study: Study, key: UUID) -> EpisodeRecord:
    theirs = Q(rounds__participant__study=study) | Q(practised_by__study=study)
    mine = Episode.objects.filter(theirs | Q(first_practised_by__study=study), key=key)
    found = get_object_or_404(Episode, pk__in=mine.values("pk"))
    for record in read_episode_records(Episode.objects.filter(pk=found.pk)):
        return record
    raise Http404


def _show(request: HttpRequest, record: EpisodeRecord, more: Mapping[str, Any]) -> HttpResponse:
    """The page, or what of it changes with the step where only that is asked for."""
    asked = request.POST if request.method == "POST" else request.GET
    when = event_steps(record)
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
        "told": report_step(record, step + 1),
        "script_words": script_texts(scene=False),
        **more,
    }
    try:
        context["seen"] = seat_page_after(record, seat, step)
    except (WorldError, UnknownNameError) as error:
        context["problem"] = error.args[0]
    if "part" in asked:
        return render(request, "study/monitor/replay_step.html", context)
    return render(request, "study/monitor/replay.html", {**context, **_timeline(record, more)})


def _timeline(record: EpisodeRecord, more: Mapping[str, Any]) -> dict[str, Any]:
    """The figure of the whole episode, where its world is known. Of one from a file, of which nothing has an
    address, its specification and table stand in the page."""
    try:
        chart = timeline_chart(record)
    except UnknownNameError:
        return {}
    spec = vega_specification(chart) if "packed" in more else None
    return {"chart": chart, "spec": spec, "kinds": figure_files.OFFERED}


def _speed(record: EpisodeRecord) -> float:
    """About as it was played, where a clock took the steps; else one a second."""
    tick = record.episode.tick_ms
    return min(SPEEDS, key=lambda speed: abs(speed - 1000 / tick)) if tick else 1


def _seat(record: EpisodeRecord, asked: str) -> int:
    """The seat that is asked for, or the first of a person, or the first."""
    numbers = [seat.number for seat in record.seats]
    if asked.isdecimal() and int(asked) in numbers:
        return int(asked)
    return next((seat.number for seat in record.seats if seat.is_person), numbers[0])


def _step(record: EpisodeRecord, asked: Mapping[str, Any], moments: list[int]) -> int:
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
