"""A seat's view as HTML: the whole page at first, then only what has changed on it, by the same templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kitchen.contract.page import Page, Panel, SeatView
from kitchen.play import drawing
from kitchen.play.messages import NoticeMessage
from kitchen.play.shell import Notice, notice_panel, shell

PONG = '<i id="pulse" hidden></i>'
"""The answer to a ping: somebody is there."""
REMEMBERED = 1000
"""Panels of which a screen knows what they show; one that it has forgotten is sent again."""


def page_context(page: Page, view: SeatView, **more: Any) -> dict[str, Any]:
    """What `kitchen/play/play.html` needs for one seat."""
    drawn = {panel.id: drawing.whole(panel) for panel in _panels(page, view)}
    return {
        "page": page,
        "view": view,
        "panels": drawn,
        "layout": drawing.layout(page, drawn),
        "guide": drawing.guide(page, view.brief, clocked=bool(view.step_seconds)),
        "reference": drawing.reference(page, view.brief),
        **more,
    }


def _panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    return (notice_panel(Notice()), *shell(page, view), *page.panels(view))


class Screen:
    """What one open page shows: all that it was sent over this websocket.

    A page that connects anew gets a new screen, and all its panels again.
    """

    def __init__(self) -> None:
        self._shown: dict[str, Panel] = {}

    def fragments(self, page: Page, view: SeatView) -> str:
        """What this view changes on the page; at first everything, empty where nothing changes."""
        panels = (*shell(page, view), *page.panels(view))
        if not self._shown:
            panels = (notice_panel(Notice()), *panels)
        return self._changes(panels)

    def notice(self, message: NoticeMessage) -> str:
        """What this answer changes on the page: one without words takes away what was said before."""
        return self._changes((notice_panel(Notice(message.text, message.tone)),))

    def _changes(self, panels: Iterable[Panel]) -> str:
        return "".join(fragment for panel in panels for fragment in self._change(panel))

    def _change(self, panel: Panel) -> Iterator[str]:
        """The panel, or those of its parts that have changed, each as a fragment."""
        before = self._shown.get(panel.id)
        if before == panel:
            return
        self._remember(panel)
        kept = list(panel.parts)
        if before is None or _frame(before) != _frame(panel):
            kept.clear()
            yield self._drawn(panel, kept)
        for part in kept:
            yield from self._change(part)

    def _drawn(self, panel: Panel, kept: list[Panel]) -> str:
        """The panel with those parts that the page does not have; the others go to `kept`."""
        html = drawing.draw(panel)
        for part in panel.parts:
            if part.id in self._shown:
                kept.append(part)
            else:
                self._remember(part)
                html = html.replace(drawing.gap(part.id), self._drawn(part, kept), 1)
        return drawing.narrowed(html)

    def _remember(self, panel: Panel) -> None:
        self._shown.pop(panel.id, None)
        self._shown[panel.id] = panel
        if len(self._shown) > REMEMBERED:
            del self._shown[next(iter(self._shown))]


def _frame(panel: Panel) -> tuple[object, ...]:
    """What a panel is without what its parts show."""
    return (*panel[:4], [part.id for part in panel.parts])
