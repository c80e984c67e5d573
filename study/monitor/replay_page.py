"""Serve the staff page that replays an episode (one game): what each player saw, and what agents reasoned.

Staff can choose any step of the episode. An episode of a study is read from the database. An episode of
another installation is uploaded as a file. The server does not store this file, so every later request sends
it again. The page also works without scripts.
"""

from __future__ import annotations

import base64
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from kitchen.charts.vega_charts import vega_specification
from kitchen.contract.bootstrap_intervals import mean_interval, share_interval
from kitchen.contract.data_limits import GZIP
from kitchen.contract.team_measures import team_measures
from kitchen.contract.world_errors import WorldError
from kitchen.infra.file_downloads import as_attachment
from kitchen.infra.process_pool import ProcessPoolError
from kitchen.opened.frame_files import media_type
from kitchen.play.live.render_page import script_texts
from kitchen.play.models import Episode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import (
    event_share_counts,
    interval_text,
    metrics_by_seat,
    metrics_of_world,
)
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_content import EpisodeFileError, gzip_bytes
from kitchen.replay.episode_file import (
    check_content,
    episode_of_content,
    export_episode,
    read_content,
    replay_content,
    untrusted_file_errors,
)
from kitchen.replay.episode_record import EpisodeRecord, member_label, read_episode_records
from kitchen.replay.episode_timeline import event_steps, timeline_chart
from kitchen.replay.frame_replay import frame_after, frame_of_file_after
from kitchen.replay.step_replay import report_step, seat_page_after
from kitchen.replay.team_timeline import team_timeline
from study.analysis import figure_files
from study.design.models import Study
from study.monitor.annotation_panel import annotation_context
from study.monitor.episode_exclusion import exclusion_context
from study.monitor.replay_sound import sound_context
from study.monitor.study_episodes import study_episode
from study.researchers.permissions import FORM_METHODS, staff_page, study_page

NO_VALUE = "\N{EN DASH}"
"""Shown for a measure without a value."""
LARGEST_PLAIN = 2_000_000
"""Most bytes of an uncompressed file. `brigade/server_limits.py` limits a request."""
SPEEDS = (0.5, 1, 2, 4, 6, 12)
"""Steps per second that the page offers."""
FILE_CONTEXT = "study.monitor.replay_page.file_context"
"""Path of the function that checks and replays an episode from a file for its page."""
IMPORTED_CONTEXT = "study.monitor.replay_page.imported_context"
"""Path of the function that replays an imported episode for its page."""
WRONG_FILE = "This file was not opened: {why}."
NO_FILE = "Choose a file first."


@study_page("results")
def replay(request: HttpRequest, study: Study, episode: UUID) -> HttpResponse:
    """Show an episode or practice episode of this study."""
    found = study_episode(study, episode)
    more: dict[str, Any] = {"study": study, "episode_key": episode}
    record = _record(found)
    if not _is_part(request.GET):
        step = replay_step(record, request.GET)
        more |= annotation_context(request, study, found, step) | exclusion_context(request, study, found)
        more |= sound_context(found)
    return _show(request, record, more)


@study_page("results")
def replay_file(request: HttpRequest, study: Study, episode: UUID) -> HttpResponseBase:
    """Download the episode as a JSON file. If the file would be too large for the replay page, it is
    compressed."""
    data, name, kind = export_episode(_stored(study, episode)), f"episode-{episode}.json", "application/json"
    if len(data) > LARGEST_PLAIN:
        data, name, kind = gzip_bytes(data), f"{name}.gz", "application/gzip"
    return as_attachment(HttpResponse(data, content_type=kind), name)


@study_page("results")
def replay_timeline(request: HttpRequest, study: Study, episode: UUID, ending: str) -> HttpResponse:
    """Return the timeline of an episode as a figure file, or as an HTML table if `ending` is `html`."""
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
    """Show an episode from a file. Either the user uploads the file, or the open replay page sends it
    again."""
    if request.method != "POST":
        return render(request, "study/monitor/replay_open.html")
    try:
        data = _sent(request)
        content = read_content(data)
        asked = {name: value for name, value in request.POST.items() if name != "packed"}
        shown = replay_content(FILE_CONTEXT, content, asked)
        carried = data if data.startswith(GZIP) else gzip_bytes(data)
        packed = base64.b64encode(carried).decode()
        with untrusted_file_errors():
            return render_replay(request, {**shown, "record": episode_of_content(content), "packed": packed})
    except EpisodeFileError as error:
        context = {"problem": NO_FILE if not str(error) else WRONG_FILE.format(why=error)}
        return render(request, "study/monitor/replay_open.html", context, status=422)


def _sent(request: HttpRequest) -> bytes:
    """Return the episode file that the user uploaded. Raises EpisodeFileError if there is none."""
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
    return _record(study_episode(study, key))


def _record(found: Episode) -> EpisodeRecord:
    for record in read_episode_records(Episode.objects.filter(pk=found.pk)):
        return record
    raise Http404


def _show(request: HttpRequest, record: EpisodeRecord, more: Mapping[str, Any]) -> HttpResponse:
    """Return the replay page of a stored episode."""
    return render_replay(request, {**replay_context(record, request.GET), "record": record, **more})


def render_replay(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Return the whole replay page or, if the request asks for it, only the part that depends on the step.
    If the context has no `frame`, it is drawn."""
    if "frame" not in context:
        context["frame"] = _data_address(frame_after(context["record"], context["step"]))
    page = "replay_step" if _is_part(_asked(request)) else "replay"
    return render(request, f"study/monitor/{page}.html", context)


def _data_address(file: bytes | None) -> str:
    """Return an image as an address that contains it. Empty without an image."""
    return f"data:{media_type(file)};base64,{base64.b64encode(file).decode()}" if file else ""


def _asked(request: HttpRequest) -> Mapping[str, Any]:
    return request.POST if request.method == "POST" else request.GET


def _is_part(asked: Mapping[str, Any]) -> bool:
    return "part" in asked


def file_context(content: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of an episode from a file with this content, for a request with the
    parameters `asked`. This first checks the content by a replay. Raises EpisodeFileError."""
    check_content(content)
    return imported_context(content, asked)


def imported_context(content: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same without the check. It was made when the episode was imported."""
    with untrusted_file_errors():
        record = episode_of_content(content)
        context = replay_context(record, asked)
        context["frame"] = _data_address(frame_of_file_after(record, context["step"]))
        if chart := context.get("chart"):  # a file has no addresses for figure files
            context["spec"] = vega_specification(chart)
        return context


def replay_context(record: EpisodeRecord, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page, or its part, shows of an episode. This replays the episode."""
    when = event_steps(record)
    kind = asked.get("kind", "")
    step = replay_step(record, asked)
    seat = _seat(record, asked.get("seat", ""))
    context: dict[str, Any] = {
        "step": step,
        "steps": record.episode.step,
        "seat": seat,
        "kind": kind if kind in when else "",
        "moments": [(name, len(steps)) for name, steps in when.items()],
        "speeds": SPEEDS,
        "speed": _speed(record),
        "told": report_step(record, step + 1),
        "measures": event_measures(record),
        "by_seat": metrics_by_seat(record.episode.world, record.episode.score),
        "script_words": script_texts(scene=False),
    }
    try:
        context["seen"] = seat_page_after(record, seat, step)
    except (WorldError, UnknownNameError) as error:
        context["problem"] = error.args[0]
    if _is_part(asked):
        return context
    figures = {"team": team_table(record), "team_timeline": team_timeline(record)}
    return {**context, **_timeline(record), **figures}


def replay_step(record: EpisodeRecord, asked: Mapping[str, Any]) -> int:
    """Return the step that a request with the parameters `asked` shows, as the number of steps taken."""
    when = event_steps(record)
    every = sorted({number for steps in when.values() for number in steps})
    return _step(record, asked, when.get(asked.get("kind", ""), every))


def event_measures(record: EpisodeRecord) -> list[tuple[str, str, int, str]]:
    """Return (label, value, number of events, interval) of each metric that summarises several events of the
    episode. Metrics without an event are left out."""
    world, score = record.episode.world, record.episode.score
    counts = event_share_counts(world, score)
    rows = []
    for metric in metrics_of_world(world):
        value = score.get(metric.name)
        values = [event.values[metric.mean_of] for event in record.scored_events if metric.mean_of]
        if value is not None and metric.name in counts:
            events, interval = sum(counts[metric.name]), share_interval(*counts[metric.name])
        elif value is not None and values:
            events, interval = len(values), mean_interval(values)
        else:
            continue
        rows.append((metric.label, metric.shown(value), events, interval_text(metric, interval)))
    return rows


TEAM_MEASURES: Mapping[str, str] = {
    "steps_to_goal": "Steps to the goal",
    "plannings": "Planning iterations",
    "steps_acted": "Steps with an action",
    "idle_thinking": "Idle steps: thinking",
    "idle_waiting": "Idle steps: waiting for others",
    "idle_nothing": "Idle steps: did nothing although asked",
    "jobs": "Jobs given to them",
    "jobs_done": "Jobs done",
    "jobs_failed": "Jobs failed",
    "cycles": "Jobs that came back in a cycle",
    "messages": "Messages written",
    "stale_commands": "Commands that came too late",
    "plans_dropped": "Plans dropped",
    "calls": "Model calls",
    "usd": "US dollars",
}
"""Measures of organisations on the page, with their labels (`kitchen.contract.team_measures`)."""


def team_table(record: EpisodeRecord) -> dict[str, Any]:
    """Return the measures of the team and of its members as a table. The result is empty without an
    organisation, or if the world is unknown."""
    organisation = record.episode.team
    if organisation is None:
        return {}
    try:
        found = team_measures(record.log, get_world(record.episode.world))
    except UnknownNameError:
        return {}
    head = ["Team", *(member_label(record, number) for number in organisation.numbers)]
    rows = [(label, [_team_cell(row[name]) for row in found]) for name, label in TEAM_MEASURES.items()]
    return {"head": head, "rows": rows}


def _team_cell(value: Any) -> str:
    return NO_VALUE if value is None else f"{value:g}"


def _timeline(record: EpisodeRecord) -> dict[str, Any]:
    """Return the template context of the timeline figure. It is empty if the world is unknown."""
    try:
        chart = timeline_chart(record)
    except UnknownNameError:
        return {}
    return {"chart": chart, "spec": None, "kinds": figure_files.OFFERED}


def _speed(record: EpisodeRecord) -> float:
    """Return the replay speed to select first, in steps per second. It is the offered speed nearest to the
    real one, or 1 for a turn-based episode."""
    tick = record.episode.tick_ms
    return min(SPEEDS, key=lambda speed: abs(speed - 1000 / tick)) if tick else 1


def _seat(record: EpisodeRecord, asked: str) -> int:
    """Return the seat whose view is shown: the requested seat `asked`. If it does not exist, return the
    first seat of a person, or else the first seat."""
    numbers = [seat.number for seat in record.seats]
    if asked.isdecimal() and int(asked) in numbers:
        return int(asked)
    return next((seat.number for seat in record.seats if seat.is_person), numbers[0])


def _step(record: EpisodeRecord, asked: Mapping[str, Any], moments: list[int]) -> int:
    """Return the step to show, as the number of steps already taken. The request names it by a word such as
    `back`, or by a number. `moments` are the steps to which `earlier` and `later` jump."""
    said, last = asked.get("step", "0"), record.episode.step
    go = asked.get("go", "")
    said = go if go.isdecimal() else said
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
    return places.get(go, at)
