"""A seat's view as HTML: the whole page at first, then only its panels, by the same templates."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string

from kitchen.contract.page import Page, Panel, SeatView
from kitchen.play.messages import NoticeMessage

PONG = '<i id="pulse" hidden hx-swap-oob="true"></i>'
"""The answer to a ping: somebody is there."""

SHELL = ("bar", "clock", "hint", "over")
"""Panels that every world shares; their templates are `kitchen/play/<id>.html`."""


def page_context(page: Page, view: SeatView, **more: Any) -> dict[str, Any]:
    """What `kitchen/play/play.html` needs for one seat."""
    panels = {panel.id.replace("-", "_"): panel for panel in page.panels(view)}
    return {"page": page, "view": view, "panels": panels, "handbook": page.handbook(view.brief), **more}


def fragments(page: Page, view: SeatView, **more: Any) -> str:
    """Every panel of the page as out-of-band fragments, for the websocket."""
    shell = [Panel(name, f"kitchen/play/{name}.html", {}) for name in SHELL]
    return "\n".join(_fragment(panel, view, {"page": page, **more}) for panel in (*shell, *page.panels(view)))


def _fragment(panel: Panel, view: SeatView, more: dict[str, Any]) -> str:
    return render_to_string(panel.template, {"view": view, "oob": True, **more, **panel.context})


def notice_fragment(message: NoticeMessage) -> str:
    """An answer in words, as an out-of-band fragment."""
    return render_to_string(
        "kitchen/play/notice.html", {"notice": message.text, "tone": message.tone, "oob": True}
    )


class Screen:
    def __init__(self):
        self._n = ""

    def fragments(self, page, view, whole=False, **more):
        return fragments(page, view, **more)

    def notice(self, message):
        if message.text == self._n:
            return ""
        self._n = message.text
        return notice_fragment(message)
