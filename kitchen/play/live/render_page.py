"""Render the play page as HTML: the whole page at first, then only the panels that have changed.

A rendered panel is cached for every page of this process that shows the same in the same language. Panels,
layouts and guides are Jinja2 templates: escaped, with `static` and translations and nothing more. The texts
of the page's scripts (`static/js/`) are sent with the page. `preload_pages` loads all of this before a
process takes requests, so that its first page is as quick as the next.
"""

from __future__ import annotations

import gc
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_template
from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.templatetags.static import static
from django.urls import get_resolver
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.gzip import gzip_page
from jinja2 import Environment, StrictUndefined

from kitchen.contract.page import DRAWING_TABLES, Page, Panel, SeatView
from kitchen.contract.world import Json
from kitchen.play.live import seat_view
from kitchen.play.live.shared_panels import Notice, notice_panel, shared_panels
from kitchen.play.models import Seat
from kitchen.play.turn.websocket_messages import NoticeMessage
from kitchen.registry.world_registry import get_page, get_world, known_worlds
from kitchen.words.translation import current_language, gettext, gettext_noop, ngettext

CACHED_PANELS = 8192
"""Drawings; a few hundred bytes to two kilobytes each."""
CACHED_GUIDES = 64
"""Guides and references; some ten kilobytes each."""


class PanelFrame(NamedTuple):
    """A panel without what its parts show, in one language."""

    id: str
    template: str
    shows: NamedTuple
    make: Callable[[Any], Mapping[str, Json]] | None
    parts: tuple[str, ...]
    language: str


def panel_frame(panel: Panel) -> PanelFrame:
    """What of a panel is drawn by its own template."""
    parts = tuple([part.id for part in panel.parts]) if panel.parts else ()
    return PanelFrame(panel.id, panel.template, panel.shows, panel.make, parts, current_language())


@lru_cache(maxsize=CACHED_PANELS)
def render_frame(wanted: PanelFrame) -> tuple[PanelFrame, str]:
    """The HTML of a frame, with a gap for each part, and the frame itself, which all who show it share. It is
    drawn in the language of who asks, which is that of the frame."""
    context = wanted.make(wanted.shows) if wanted.make else wanted.shows._asdict()
    own = {"id": wanted.id, "parts": {part: placeholder(part) for part in wanted.parts}}
    return wanted, _render(wanted.template, {**context, **own})


def panel_ids(panels: Iterable[Panel]) -> Iterator[str]:
    """Those of these panels and of all within them."""
    for panel in panels:
        yield panel.id
        yield from panel_ids(panel.parts)


def placeholder(name: str) -> SafeString:
    """Stands where this part of a panel belongs; the page puts the part there that it has."""
    return mark_safe(f'<template id="{name}"></template>')  # noqa: S308


def with_joined_placeholders(html: str) -> str:
    """The same with one gap for parts that stand side by side: their ids in a row."""
    return html.replace('"></template><template id="', " ")


def render_panel(panel: Panel) -> SafeString:
    """The panel's HTML with all its parts."""
    _, html = render_frame(panel_frame(panel))
    for part in panel.parts:
        html = html.replace(placeholder(part.id), render_panel(part), 1)
    return mark_safe(html)  # noqa: S308 - drawn by templates that escape


def render_layout(page: Page, panels: Mapping[str, SafeString], shown: str) -> SafeString:
    """The panels as the world arranges them where people see so much of it."""
    return mark_safe(_render(page.layout, {"panels": panels, "shown": shown}))  # noqa: S308


def render_overview(page: Page, panels: Mapping[str, SafeString], shown: str) -> SafeString:
    """Likewise for somebody who looks on without a seat."""
    return mark_safe(_render(page.overview_layout, {"panels": panels, "shown": shown}))  # noqa: S308


def render_guide(
    page: Page,
    brief: Mapping[str, Json],
    *,
    clocked: bool,
    drawn: bool,
    asks_first: bool = False,
    leads: bool = False,
) -> SafeString:
    """How to play: `clocked` where steps have a time limit, `drawn` where the world is shown in a picture,
    `asks_first` where an action is asked for once more before it is sent, `leads` for somebody who commands
    nothing in it."""
    how = {"clocked": clocked, "drawn": drawn, "asks_first": asks_first, "leads": leads}
    return _book(page, page.guide, json.dumps(brief), current_language(), **how)


def render_reference(page: Page, brief: Mapping[str, Json]) -> SafeString:
    """What can be looked up beside play; empty where there is nothing."""
    if not page.reference:
        return SafeString()
    return _book(page, page.reference, json.dumps(brief), current_language())


@lru_cache(maxsize=CACHED_GUIDES)
def _book(page: Page, template: str, text: str, spoken: str, **how: bool) -> SafeString:
    brief = json.loads(text)
    context = {"brief": brief, "handbook": page.handbook(brief), **how}
    return mark_safe(_render(template, context))  # noqa: S308


def _render(template: str, context: Mapping[str, Any]) -> str:
    engine = engines["panels"]
    assert isinstance(engine, Jinja2)  # noqa: S101 - as `TEMPLATES` says
    return engine.env.get_template(template).render(context)


PONG_HTML = '<i id="pulse" hidden></i>'
"""The answer to a ping: somebody is there."""
PANELS_REMEMBERED = 256
"""With more panels than these a screen forgets those that have gone from the page, but for the newest, a
quarter of this number; what it has forgotten is sent again."""


def page_context(page: Page, view: SeatView, **more: Any) -> dict[str, Any]:
    """What `kitchen/play/play.html` needs for one seat. What others wrote is no part of it, since the page is
    squeezed (BREACH): the websocket brings it."""
    view = replace(view, messages=(), jobs=())
    panels = (notice_panel(Notice()), *shared_panels(page, view), *world_panels(page, view))
    how = {"clocked": bool(view.step_seconds), "drawn": view.shown != DRAWING_TABLES}
    how |= {"asks_first": bool(more.get("asks_first")), "leads": not view.acts}
    whole = {panel.id: render_panel(panel) for panel in panels}
    return {
        "page": page,
        "view": view,
        "panels": whole,
        "layout": seat_layout(page, view, whole),
        "goal": page.goal(view.brief),
        "guide": render_guide(page, view.brief, **how),
        "reference": render_reference(page, view.brief),
        "addressees": [(number, view.members[number]) for number in view.addressees],
        "unread": [view.members[number] for number in view.unread],
        "only_jobs": [view.members[number] for number in view.only_jobs],
        "deaf": [view.members[number] for number in view.unread if number not in view.only_jobs],
        "workers": [(number, view.members[number]) for number in view.leads],
        "aims": offered_aims(page, view),
        **more,
    }


def world_panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """The world's own, as far as they are shown to this person."""
    if view.acts:
        return page.panels(view)
    return page.overview(view) if view.looks_on else ()


def seat_layout(page: Page, view: SeatView, panels: Mapping[str, SafeString]) -> SafeString:
    """What this person sees of the world, as it arranges that; empty for who sees nothing of it."""
    if view.acts:
        return render_layout(page, panels, view.shown)
    return render_overview(page, panels, view.shown) if view.looks_on else SafeString()


def offered_aims(page: Page, view: SeatView) -> list[tuple[str, list[tuple[str, str]]]]:
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
        self._shown: dict[str, PanelFrame] = {}

    def fragments(self, page: Page, view: SeatView) -> str:
        """What this view changes on the page; at first everything, empty where nothing changes."""
        panels = (*shared_panels(page, view), *world_panels(page, view))
        if not self._shown:
            panels = (notice_panel(Notice()), *panels)
        changes = self._changes(panels)
        if len(self._shown) > PANELS_REMEMBERED:
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
        wanted, parts = panel_frame(panel), panel.parts
        if self._shown.get(panel.id) != wanted:
            kept: list[Panel] = []
            fragments.append(self._draw(panel, wanted, kept))
            parts = tuple(kept)
        for part in parts:
            self._change(part, fragments)

    def _draw(self, panel: Panel, wanted: PanelFrame, kept: list[Panel]) -> str:
        """The panel with those parts that the page does not have; the others go to `kept`."""
        self._shown.pop(panel.id, None)
        self._shown[panel.id], html = render_frame(wanted)
        for part in panel.parts:
            if part.id in self._shown:
                kept.append(part)
            else:
                html = html.replace(placeholder(part.id), self._draw(part, panel_frame(part), kept), 1)
        return with_joined_placeholders(html)

    def _forget(self, panels: Iterable[Panel]) -> None:
        here = {"notice", *panel_ids(panels)}
        gone = [name for name in self._shown if name not in here]
        for name in gone[: max(0, len(gone) - PANELS_REMEMBERED // 4)]:
            del self._shown[name]


SCRIPT_TEXTS: Mapping[str, str] = {
    "connecting": gettext_noop("Connecting…"),
    "connected": gettext_noop("Connected"),
    "offline": gettext_noop("You are offline. Nothing is lost; you go on when you are connected again."),
    "doubted": gettext_noop("Waiting for the connection… Nothing is lost."),
    "waitsForConnection": gettext_noop("Waiting for the connection…"),
    "silent": gettext_noop("The server does not answer. Nothing is lost; trying again…"),
    "again": gettext_noop("Connecting again… (attempt {number})"),
    "elsewhere": gettext_noop("Open in another tab"),
    "gone": gettext_noop("This link is no longer open"),
    "takenOver": gettext_noop("This goes on without you"),
    "tooMuch": gettext_noop(
        "Too much came from this page at once. Nothing is lost; it connects again within a minute."
    ),
    "later": gettext_noop(
        "Nothing can be stored at the moment. Nothing is lost; this page tries again by itself."
    ),
    "closed": gettext_noop("The connection was closed. Load this page again to go on."),
    "over": gettext_noop("This episode is over"),
    "playing": gettext_noop("Playing the step…"),
    "kept": gettext_noop("Not connected: your choice is kept"),
    "notConnected": gettext_noop("Not connected"),
    "choose": gettext_noop("Choose an action"),
    "chose": gettext_noop("You chose: {action}"),
    "since": gettext_noop("{seconds} s"),
    "sinceLong": gettext_noop("{seconds} s: it takes longer than usual, nothing is lost"),
    "left": gettext_noop("{seconds} s left"),
    "timeIsUp": gettext_noop("Time is up"),
    "doIt": gettext_noop("Do it"),
    "chooseAnother": gettext_noop("Choose another"),
    "begins": gettext_noop("It begins in {seconds} s"),
    "awaited": gettext_noop("It begins when everybody is here."),
    "still": gettext_noop("The clock stands still. It goes on by itself."),
    "stood": gettext_noop("The clock stood still for {seconds} s. It goes on where it was."),
    "nothingHere": gettext_noop("Nothing can be done here just now."),
}
"""By the names under which scripts know them; what is between braces, they fill in."""
REALTIME_TEXTS: Mapping[str, str] = {
    "offline": gettext_noop("You are offline. The game goes on without you until you are connected again."),
    "doubted": gettext_noop("Waiting for the connection… The game goes on meanwhile."),
    "silent": gettext_noop("The server does not answer; trying again… The game may go on meanwhile."),
}
"""Instead of those, where a clock takes the steps."""
SCENE_TEXTS: Mapping[str, str] = {
    "more": gettext_noop("More …"),
    "you": gettext_noop("you"),
    "backToPage": gettext_noop("Back to the page"),
    "noScene": gettext_noop("This browser cannot show it in three dimensions. Everything is on this page."),
    "headsetRefused": gettext_noop("The headset did not let this page in. The scene goes on here."),
    "headset": gettext_noop("Enter with the headset"),
    "noHeadset": gettext_noop("No headset here"),
}
"""Likewise, in the scene in three dimensions."""
ANNOUNCED_SECONDS = (10, 5)
"""With so many seconds left for a step, that is said aloud."""


def script_texts(*, scene: bool, ticking: bool = False) -> dict[str, str | dict[int, str]]:
    """All of them, those of the scene where there is one and those of a clock where one runs, and `calls`:
    what is said aloud, by the seconds that are left."""
    words = {**SCRIPT_TEXTS, **(SCENE_TEXTS if scene else {}), **(REALTIME_TEXTS if ticking else {})}
    calls = {seconds: _call(seconds) for seconds in ANNOUNCED_SECONDS}
    return {**{name: gettext(said) for name, said in words.items()}, "calls": calls}


def _call(seconds: int) -> str:
    return ngettext("{number} second left", "{number} seconds left", seconds).format(number=seconds)


PERMISSIONS_WITH_MICROPHONE = "camera=(), geolocation=(), microphone=(self), payment=(), usb=()"
"""What a page may ask the browser for where people may speak: all others may ask for nothing."""


@gzip_page
def play_page_response(request: HttpRequest, *, seat: Seat, continue_url: str, **more: Any) -> HttpResponse:
    """The whole play page at the present step, squeezed: nothing that came with the request stands in it, so
    its length tells nothing (BREACH). `more` goes to the template. The team is called `label` on it, or as in
    the data."""
    page, view = seat_view.world_page_of(seat), seat_view.current_seat_view(seat)
    scene = page.scene if seat.episode.three_dimensions else ""
    context = page_context(
        page,
        view,
        socket_path=f"/ws/{'ticks' if view.tick_ms else 'seat'}/{seat.key}/",
        continue_url=continue_url,
        asks_first=seat.episode.asks_first,
        script_words=script_texts(scene=bool(scene), ticking=bool(view.tick_ms)),
        scene=scene,
        **{"label": view.label, **more},
    )
    response = render_template(request, "kitchen/play/play.html", context)
    response["Cache-Control"] = "no-store"
    if view.spoken:
        response["Permissions-Policy"] = PERMISSIONS_WITH_MICROPHONE
    return response


def jinja_environment(**options: Any) -> Environment:
    """What Django's Jinja2 backend asks for: a name that a template is not given is an error."""
    ours = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined, "autoescape": True}
    made = Environment(**{**options, **ours})  # noqa: S701 - escaped, two lines above
    made.globals["static"] = static
    made.add_extension("jinja2.ext.i18n")
    made.install_gettext_callables(  # type: ignore[attr-defined] # the extension has it
        translation.gettext, translation.ngettext, newstyle=True, pgettext=translation.pgettext
    )
    return made


log = logging.getLogger(__name__)


def preload_pages() -> None:
    """Worlds with their pages, templates of panels, and whatever addresses lead to. What cannot be loaded is
    told when somebody needs it."""
    try:
        for world in known_worlds():
            get_world(world), get_page(world)
        panels: Any = engines["panels"]
        for name in panels.env.list_templates(extensions=["jinja"]):
            panels.env.get_template(name)
        _ = get_resolver().url_patterns
    except Exception:  # whatever a world of others has
        log.exception("not all was loaded before the first page")
    gc.collect()
    gc.freeze()  # as in brigade/asgi.py: this stays for good, too
