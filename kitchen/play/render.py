"""A seat's view as HTML: the whole page at first, then only what has changed on it, by the same templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.safestring import SafeString

from kitchen.contract.page import TABLES, Page, Panel, SeatView
from kitchen.play import drawing
from kitchen.play.drawing import Frame, drawn, frame, gap, ids, narrowed
from kitchen.play.shell import Notice, notice_panel, shell
from kitchen.play.told import NoticeMessage

PONG = '<i id="pulse" hidden></i>'
"""The answer to a ping: somebody is there."""
REMEMBERED = 256
"""With more panels than these a screen forgets those that have gone from the page, but for the newest, a
quarter of this number; what it has forgotten is sent again."""


def page_context(page: Page, view: SeatView, **more: Any) -> dict[str, Any]:
    """What `kitchen/play/play.html` needs for one seat. What others wrote is no part of it, since the page is
    squeezed (BREACH): the websocket brings it."""
    view = replace(view, messages=(), jobs=())
    panels = (notice_panel(Notice()), *shell(page, view), *world_panels(page, view))
    how = {"clocked": bool(view.step_seconds), "drawn": view.shown != TABLES}
    how |= {"asks_first": bool(more.get("asks_first")), "leads": not view.acts}
    whole = {panel.id: drawing.whole(panel) for panel in panels}
    return {
        "page": page,
        "view": view,
        "panels": whole,
        "layout": layout_of(page, view, whole),
        "goal": page.goal(view.brief),
        "guide": drawing.guide(page, view.brief, **how),
        "reference": drawing.reference(page, view.brief),
        "addressees": [(number, view.members[number]) for number in view.addressees],
        "unread": [view.members[number] for number in view.unread],
        "only_jobs": [view.members[number] for number in view.only_jobs],
        "deaf": [view.members[number] for number in view.unread if number not in view.only_jobs],
        "workers": [(number, view.members[number]) for number in view.leads],
        "aims": aims_offered(page, view),
        **more,
    }


def world_panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """The world's own, as far as they are shown to this person."""
    if view.acts:
        return page.panels(view)
    return page.overview(view) if view.looks_on else ()


def layout_of(page: Page, view: SeatView, panels: Mapping[str, SafeString]) -> SafeString:
    """What this person sees of the world, as it arranges that; empty for who sees nothing of it."""
    if view.acts:
        return drawing.layout(page, panels, view.shown)
    return drawing.overview(page, panels, view.shown) if view.looks_on else SafeString()


def aims_offered(page: Page, view: SeatView) -> list[tuple[str, list[tuple[str, str]]]]:
    """What one of those who are led can be asked for: in groups, as a form sends it, and in words."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for aim in dict.fromkeys(aim for listed in view.aims.values() for aim in listed):
        value = json.dumps(aim, separators=(",", ":"))
        groups.setdefault(page.aim_group(aim), []).append((value, page.aimed(view.brief, aim)))
    return list(groups.items())


class Screen:
    """What one open page shows: all that it was sent over this websocket.

    A page that connects anew gets a new screen, and all its panels again. A screen is asked by one thread at
    a time, and what it answers is sent in this order.
    """

    def __init__(self) -> None:
        self._shown: dict[str, Frame] = {}

    def fragments(self, page: Page, view: SeatView) -> str:
        """What this view changes on the page; at first everything, empty where nothing changes."""
        panels = (*shell(page, view), *world_panels(page, view))
        if not self._shown:
            panels = (notice_panel(Notice()), *panels)
        changes = self._changes(panels)
        if len(self._shown) > REMEMBERED:
            self._forget(panels)
        return changes

    def notice(self, message: NoticeMessage) -> str:
        """The answer as a fragment: always if it says something, since the page waits for it. One without
        words takes away what was said before, and is empty where nothing was."""
        if message.text:
            self._shown.pop("notice", None)
        return self._changes((notice_panel(Notice(message.text, message.tone, message.again)),))

    def _changes(self, panels: Iterable[Panel]) -> str:
        fragments: list[str] = []
        for panel in panels:
            self._change(panel, fragments)
        return "".join(fragments)

    def _change(self, panel: Panel, fragments: list[str]) -> None:
        """Add the panel, or those of its parts that have changed."""
        wanted, parts = frame(panel), panel.parts
        if self._shown.get(panel.id) != wanted:
            kept: list[Panel] = []
            fragments.append(self._draw(panel, wanted, kept))
            parts = tuple(kept)
        for part in parts:
            self._change(part, fragments)

    def _draw(self, panel: Panel, wanted: Frame, kept: list[Panel]) -> str:
        """The panel with those parts that the page does not have; the others go to `kept`."""
        self._shown.pop(panel.id, None)
        self._shown[panel.id], html = drawn(wanted)
        for part in panel.parts:
            if part.id in self._shown:
                kept.append(part)
            else:
                html = html.replace(gap(part.id), self._draw(part, frame(part), kept), 1)
        return narrowed(html)

    def _forget(self, panels: Iterable[Panel]) -> None:
        here = {"notice", *ids(panels)}
        gone = [name for name in self._shown if name not in here]
        for name in gone[: max(0, len(gone) - REMEMBERED // 4)]:
            del self._shown[name]
