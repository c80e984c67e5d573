"""The page of one seat. Who may see it, and where it leads, is the caller's business."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_template
from django.views.decorators.gzip import gzip_page

from kitchen.play import selectors
from kitchen.play.models import Seat
from kitchen.play.render import page_context
from kitchen.play.script_words import script_words

SPEAKING = "camera=(), geolocation=(), microphone=(self), payment=(), usb=()"
"""What a page may ask the browser for where people may speak: all others may ask for nothing."""


@gzip_page
def play_page(request: HttpRequest, *, seat: Seat, continue_url: str, **more: Any) -> HttpResponse:
    """The whole play page at the present step, squeezed: nothing that came with the request stands in it, so
    its length tells nothing (BREACH). `more` goes to the template. The team is called `label` on it, or as in
    the data."""
    page, view = selectors.seat_page(seat), selectors.seat_view(seat)
    scene = page.scene if seat.episode.three_dimensions else ""
    context = page_context(
        page,
        view,
        socket_path=f"/ws/{'ticks' if view.tick_ms else 'seat'}/{seat.key}/",
        continue_url=continue_url,
        asks_first=seat.episode.asks_first,
        script_words=script_words(scene=bool(scene), ticking=bool(view.tick_ms)),
        scene=scene,
        **{"label": view.label, **more},
    )
    response = render_template(request, "kitchen/play/play.html", context)
    response["Cache-Control"] = "no-store"
    if view.spoken:
        response["Permissions-Policy"] = SPEAKING
    return response
