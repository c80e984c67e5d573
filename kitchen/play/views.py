"""The page of one seat. Who may see it, and where it leads, is the caller's business."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_template

from kitchen.play import selectors
from kitchen.play.models import Seat
from kitchen.play.render import page_context


def play_page(request: HttpRequest, *, seat: Seat, continue_url: str, **more: Any) -> HttpResponse:
    """The whole play page at the present step; `more` goes to the template."""
    page = selectors.seat_page(seat)
    context = page_context(
        page,
        selectors.seat_view(seat),
        socket_path=f"/ws/seat/{seat.key}/",
        continue_url=continue_url,
        scene=page.scene if seat.episode.three_dimensions else "",
        **more,
    )
    response = render_template(request, "kitchen/play/play.html", context)
    response["Cache-Control"] = "no-store"
    return response
