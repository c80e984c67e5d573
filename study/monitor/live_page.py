"""The live page of a study: who is where. It works without scripts; with them a websocket keeps it true."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from kitchen.machine.health import Health, health_known
from kitchen.uptime.selectors import LATELY, outages_lately
from study.design.models import Study
from study.monitor import live
from study.people.counts import study_counts
from study.people.pauses import pause_on
from study.researchers.permissions import study_page

SOCKET = "/ws/staff/study/{slug}/"


@study_page("view")
def live_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Everybody who takes part now or came to an end a short while ago."""
    codes, number = live.live_codes(study), live.shown_count(study)
    context = {
        "socket_path": SOCKET.format(slug=study.slug),
        "rows": live.live_rows(study, codes),
        "more": number if number > len(codes) else 0,
        "counts": study_counts(study),
        **totals_context(study, health_known()),
        **outages_context(),
    }
    return render(request, "study/monitor/live.html", context)


def outages_context() -> dict[str, Any]:
    """What `study/monitor/outages.html` shows: what was away lately, or is."""
    return {"outages": outages_lately(), "outages_days": LATELY.days}


def totals_context(study: Study, health: Health) -> dict[str, Any]:
    """What the summary and the totals show."""
    totals = live.live_totals(study)
    last = live.ago_words(totals.last_step_at) if totals.last_step_at else ""
    pause = pause_on(study)
    return {"study": study, "totals": totals, "last_step": last, "health": health, "pause": pause}


def rows_fragments(study: Study, rows: list[live.LiveRow]) -> dict[str, str]:
    """Each participant's row by code, as an out-of-band fragment."""
    return {
        row.code: render_to_string("study/monitor/live_row.html", {"row": row, "study": study, "oob": True})
        for row in rows
    }


def body_fragment(study: Study, rows: list[live.LiveRow]) -> str:
    """The body of the table."""
    return render_to_string("study/monitor/live_rows.html", {"rows": rows, "study": study, "oob": True})


def totals_fragments(study: Study, health: Health) -> tuple[str, str]:
    """The summary line, and the totals."""
    context = totals_context(study, health) | {"oob": True}
    summary = render_to_string("study/monitor/live_summary.html", context)
    return summary, render_to_string("study/monitor/live_totals.html", context)
