"""Render the play page as HTML: first the whole page, later only the panels that have changed.

Panels, layouts and guides are Jinja2 templates with automatic escaping. A rendered panel is cached for all
pages with the same content and language. `preload_pages` loads templates and worlds early, so that the first
page is fast.
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
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.gzip import gzip_page
from jinja2 import Environment, StrictUndefined

from kitchen.contract.page import Beat, Page, Panel
from kitchen.contract.page_view import DRAWING_TABLES, SeatView
from kitchen.contract.probes import RatingSlider
from kitchen.contract.world import Json
from kitchen.play.live import seat_view
from kitchen.play.live.common_panels import Notice, notice_panel, shared_panels
from kitchen.play.live.job_panels import names_of
from kitchen.play.live.leader_panels import offered_aims
from kitchen.play.models import Seat, SliderRating
from kitchen.play.turn.websocket_messages import NoticeMessage
from kitchen.registry.world_registry import get_page, get_world, known_worlds
from kitchen.words.gettext_without_django import (
    current_language,
    gettext,
    gettext_noop,
    ngettext,
    pgettext,
)

CACHED_PANELS = 8192
"""Maximum number of cached panels, each a few hundred bytes to two kilobytes."""
CACHED_GUIDES = 64
"""Maximum number of cached guides and references, each about ten kilobytes."""


class PanelFrame(NamedTuple):
    """A panel in one language, without the content of its parts (the panels inside it). Used as a cache
    key."""

    id: str
    template: str
    shows: NamedTuple
    make: Callable[[Any], Mapping[str, Json]] | None
    parts: tuple[str, ...]
    language: str


def panel_frame(panel: Panel) -> PanelFrame:
    """Return the data that define a panel's own HTML: its template and content in the current language, and
    the ids of its parts."""
    parts = tuple([part.id for part in panel.parts]) if panel.parts else ()
    return PanelFrame(panel.id, panel.template, panel.shows, panel.make, parts, current_language())


@lru_cache(maxsize=CACHED_PANELS)
def render_frame(wanted: PanelFrame) -> tuple[PanelFrame, str]:
    """Return the cached frame (a panel without its parts), and its HTML with a placeholder for each part. The
    frame's language must be the current language."""
    context = wanted.make(wanted.shows) if wanted.make else wanted.shows._asdict()
    own = {"id": wanted.id, "parts": {part: placeholder(part) for part in wanted.parts}}
    return wanted, _render(wanted.template, {**context, **own})


def panel_ids(panels: Iterable[Panel]) -> Iterator[str]:
    """Yield the ids of these panels and of all panels within them."""
    for panel in panels:
        yield panel.id
        yield from panel_ids(panel.parts)


def placeholder(name: str) -> SafeString:
    """Return the HTML placeholder for the panel part with this id. The browser replaces it with the part that
    it already shows."""
    return mark_safe(f'<template id="{name}"></template>')  # noqa: S308


def render_panel(panel: Panel) -> SafeString:
    """Render a panel with all its parts to HTML."""
    _, html = render_frame(panel_frame(panel))
    for part in panel.parts:
        html = html.replace(placeholder(part.id), render_panel(part), 1)
    return mark_safe(html)  # noqa: S308 - drawn by templates that escape


def render_guide(
    page: Page,
    brief: Mapping[str, Json],
    *,
    clocked: bool,
    drawn: bool,
    asks_first: bool = False,
    leads: bool = False,
    heard: bool = False,
    marked: bool = True,
    plans: bool = False,
    order_choices: bool = False,
) -> SafeString:
    """Render the instructions of the game as HTML. The result is cached.

    - `brief`: the facts of the world that never change.
    - `clocked`: steps have a time limit.
    - `drawn`: the world is shown in a picture.
    - `asks_first`: the page asks for confirmation before it sends an action.
    - `leads`: the reader leads others and has no seat in the world.
    - `heard`: the reader may write to a co-player who reads messages.
    - `marked`: the page marks the actions that advance an order.
    - `plans`: the page offers to plan, so that one choice can be to go somewhere and act there.
    - `order_choices`: the page offers whole parts of an order as one choice.
    """
    how = {"clocked": clocked, "drawn": drawn, "asks_first": asks_first, "leads": leads, "heard": heard}
    how |= {"marked": marked, "plans": plans, "order_choices": order_choices}
    return _book(page, page.guide, json.dumps(brief), current_language(), **how)


def render_reference(page: Page, brief: Mapping[str, Json]) -> SafeString:
    """Render the world's reference, which people can open during play. Empty if the world has none.
    `brief` holds the facts that never change."""
    if not page.reference:
        return SafeString()
    return _book(page, page.reference, json.dumps(brief), current_language())


@lru_cache(maxsize=CACHED_GUIDES)
def _book(page: Page, template: str, text: str, spoken: str, **how: bool) -> SafeString:
    brief = json.loads(text)
    context = {"brief": brief, "handbook": page.handbook(brief), **how}
    context["sentences"] = page.guide_sentences(brief) if how.get("heard") else ()
    return mark_safe(_render(template, context))  # noqa: S308


def _render(template: str, context: Mapping[str, Any]) -> str:
    engine = engines["panels"]
    assert isinstance(engine, Jinja2)  # noqa: S101 - as `TEMPLATES` says
    return engine.env.get_template(template).render(context)


PONG_HTML = '<i id="pulse" hidden></i>'
"""The answer to a ping."""
PANELS_REMEMBERED = 256
"""A screen with more panels than this forgets panels that left the page, except the newest quarter of this
number. A forgotten panel is sent again when it is shown again.
"""


def page_context(page: Page, view: SeatView, **more: Any) -> dict[str, Any]:
    """Return the template context of `kitchen/play/play.html` for one seat. `more` is added to it.

    Text that others wrote is not included, because the page is compressed and could leak secrets (BREACH
    attack). It is sent over the websocket.
    """
    view = replace(
        view, talk=replace(view.talk, messages=()), jobs=replace(view.jobs, listed=(), is_known=False)
    )
    panels = (notice_panel(Notice()), *shared_panels(page, view), *world_panels(page, view))
    how = {"clocked": bool(view.timing.step_seconds), "drawn": view.shown != DRAWING_TABLES}
    how |= {"asks_first": bool(more.get("asks_first")), "leads": not view.acts}
    how |= {"marked": view.marks_actions, "plans": view.plans.offered}
    how["order_choices"] = view.order_choices and view.plans.offered
    how["heard"] = bool(set(view.talk.addressees) - {*view.talk.unread, *view.talk.people})
    whole = {panel.id: render_panel(panel) for panel in panels}
    layout = seat_layout(page, view, whole)
    views = ("view-drawn", "view-tables")
    return {
        "page": page,
        "view": view,
        "panels": whole,
        "layout": layout,
        "skips_to": next((name for name in views if f'id="{name}"' in layout), ""),
        "goal": page.goal(view.brief),
        "guide": render_guide(page, view.brief, **how),
        "reference": render_reference(page, view.brief),
        "addressees": [(number, view.talk.members[number]) for number in view.talk.addressees],
        "readers": [
            (number, view.talk.members[number])
            for number in view.talk.addressees
            if number not in view.talk.unread
        ],
        "unread": [view.talk.members[number] for number in view.talk.unread],
        "only_jobs": [view.talk.members[number] for number in view.talk.only_jobs],
        "deaf": [
            view.talk.members[number] for number in view.talk.unread if number not in view.talk.only_jobs
        ],
        "beats": first_game_beats(page, view) if more.get("plays_first") else None,
        "workers": [(number, view.talk.members[number]) for number in view.jobs.leads],
        "words_are_read": bool(set(view.jobs.leads) - set(view.talk.unread)),
        "worker_names": names_of(view, view.jobs.leads),
        "leaders": [view.talk.members[number] for number in view.jobs.leaders],
        "aims": offered_aims(page, view),
        **more,
    }


def first_game_beats(page: Page, view: SeatView) -> dict[str, Any] | None:
    """Return the beats of a person's first game: `listed`, translated, and `of`, the beat of each purpose as
    JSON. None if the world has none, or the person has no seat."""
    if not (page.beats and view.acts and view.phase != "over"):
        return None
    listed = [Beat(one.name, *map(gettext, one[1:])) for one in page.beats]
    return {"listed": listed, "of": json.dumps(dict(page.beat_of))}


def world_panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """Return the world's own panels that this person may see. Empty for a leader who does not see the
    world."""
    if view.acts:
        return page.panels(view)
    return page.overview(view) if view.looks_on else ()


def seat_layout(page: Page, view: SeatView, panels: Mapping[str, SafeString]) -> SafeString:
    """Render the world's layout, with the rendered `panels` (by id) in it. Empty for a person who does not
    see the world."""
    if not (view.acts or view.looks_on):
        return SafeString()
    layout = page.layout if view.acts else page.overview_layout
    return mark_safe(_render(layout, {"panels": panels, "shown": view.shown}))  # noqa: S308


class Screen:
    """The panels that one open page shows now. It is used to find out what has changed. A page that
    reconnects gets a new screen and receives all panels again.

    Use a screen in one thread at a time, and send its results in order.
    """

    def __init__(self) -> None:
        self._shown: dict[str, PanelFrame] = {}

    def fragments(self, page: Page, view: SeatView) -> str:
        """Return the HTML that updates the page to this view: all panels at first, then only changes.
        Empty if nothing has changed."""
        panels = (*shared_panels(page, view), *world_panels(page, view))
        if not self._shown:
            panels = (notice_panel(Notice()), *panels)
        changes = self._changes(panels)
        if len(self._shown) > PANELS_REMEMBERED:
            self._forget(panels)
        return changes

    def notice(self, message: NoticeMessage) -> str:
        """Return the HTML that shows the notice on the page. A notice with text is always sent, even if the
        page already shows it.

        A notice without text removes the notice from the page. Empty if the page showed none.
        """
        if message.text:
            self._shown.pop("notice", None)
        notice = Notice(message.text, message.tone, message.again, message.code)
        return self._changes((notice_panel(notice),))

    def _changes(self, panels: Iterable[Panel]) -> str:
        fragments: list[str] = []
        for panel in panels:
            self._change(panel, fragments)
        return "".join(fragments)

    def _change(self, panel: Panel, fragments: list[str]) -> None:
        """Add to `fragments` the HTML that updates a panel. If the panel itself has not changed, only its
        changed parts are added."""
        wanted, parts = panel_frame(panel), panel.parts
        if self._shown.get(panel.id) != wanted:
            kept: list[Panel] = []
            fragments.append(self._draw(panel, wanted, kept))
            parts = tuple(kept)
        for part in parts:
            self._change(part, fragments)

    def _draw(self, panel: Panel, wanted: PanelFrame, kept: list[Panel]) -> str:
        """Return the HTML of the panel with those parts that the page does not show yet. Parts that the page
        already shows are added to `kept`."""
        self._shown.pop(panel.id, None)
        self._shown[panel.id], html = render_frame(wanted)
        for part in panel.parts:
            if part.id in self._shown:
                kept.append(part)
            else:
                html = html.replace(placeholder(part.id), self._draw(part, panel_frame(part), kept), 1)
        return html.replace('"></template><template id="', " ")  # one placeholder lists adjacent ids

    def _forget(self, panels: Iterable[Panel]) -> None:
        here = {"notice", *panel_ids(panels)}
        gone = [name for name in self._shown if name not in here]
        for name in gone[: max(0, len(gone) - PANELS_REMEMBERED // 4)]:
            del self._shown[name]


SCRIPT_TEXTS: Mapping[str, str] = {
    "connecting": gettext_noop("Connecting…"),
    "connected": gettext_noop("Connected"),
    "offline": gettext_noop(
        "You are offline. Nothing is lost; you can continue when you are connected again."
    ),
    "doubted": gettext_noop("Waiting for the connection… Nothing is lost."),
    "waitsForConnection": gettext_noop("Waiting for the connection…"),
    "silent": gettext_noop("The server does not answer. Nothing is lost; trying again…"),
    "again": gettext_noop("Connecting again… (attempt {number})"),
    "elsewhere": gettext_noop("Open in another tab"),
    "gone": gettext_noop("This link is no longer open"),
    "takenOver": gettext_noop("The game continues without you"),
    "tooMuch": gettext_noop("This page sent too much at once. Nothing is lost; it reconnects by itself."),
    "later": gettext_noop(
        "Nothing can be stored at the moment. Nothing is lost; this page tries again by itself."
    ),
    "over": gettext_noop("This game is over"),
    "playing": gettext_noop("Playing the step…"),
    "kept": gettext_noop("Not connected: your choice is kept"),
    "notConnected": gettext_noop("Not connected"),
    "choose": gettext_noop("Choose an action"),
    "press": gettext_noop("Click an action to do it"),
    "chose": gettext_noop("You chose: {action}"),
    "andThen": gettext_noop("{action}, then {number} more"),
    "since": gettext_noop("{seconds} s"),
    "sinceLong": gettext_noop("{seconds} s: it takes longer than usual, nothing is lost"),
    "left": gettext_noop("{seconds} s left"),
    "probing": gettext_noop("The game stands still while a question is answered."),
    "timeIsUp": gettext_noop("Time is up"),
    "doIt": gettext_noop("Do it"),
    "chooseAnother": gettext_noop("Choose another"),
    "begins": gettext_noop("The game begins in {seconds} s"),
    "startsSoon": gettext_noop("The game starts in 3 seconds"),
    "awaited": gettext_noop("The game begins when everybody has arrived."),
    "full": gettext_noop("Many games are running. Yours begins as soon as there is room. Stay on this page."),
    "still": gettext_noop("The clock has stopped. It will continue by itself."),
    "stood": gettext_noop("The clock stopped for {seconds} s. It continues from the same point."),
    "lostSteps": gettext_noop("Steps that could not be saved: {number}. The game continues before them."),
    "away": gettext_noop("away"),
    "nothingHere": gettext_noop("You cannot do anything here at the moment."),
}
"""Texts by the name that the scripts use. Scripts fill in the placeholders in braces."""
REALTIME_TEXTS: Mapping[str, str] = {
    "offline": gettext_noop("You are offline. The game may go on without you until you are connected again."),
    "doubted": gettext_noop("Waiting for the connection… The game may go on meanwhile."),
    "silent": gettext_noop("The server does not answer; trying again… The game may go on meanwhile."),
}
"""Texts that replace those above in a real-time episode. Without an answer of the server, the page does not
know whether the game goes on."""
SCENE_TEXTS: Mapping[str, str] = {
    "more": gettext_noop("More …"),
    "you": gettext_noop("you"),
    "backToPage": gettext_noop("Back to the page"),
    "noScene": gettext_noop(
        "This browser cannot show the game in three dimensions. This page has everything."
    ),
    "headsetRefused": gettext_noop("The headset did not allow this page to start. The scene continues here."),
}
"""Texts of the 3D scene."""
ANNOUNCED_SECONDS = (10, 5)
"""The remaining seconds of a step that are announced to screen readers."""


def script_texts(*, scene: bool, ticking: bool = False) -> dict[str, str | dict[int, str]]:
    """Return the translated texts for the page's scripts, by name.

    `scene` adds the texts of the 3D scene. `ticking` adds the texts of a real-time episode. The entry
    `calls` has the texts that announce the remaining seconds, by the number of seconds.
    """
    words = {**SCRIPT_TEXTS, **(SCENE_TEXTS if scene else {}), **(REALTIME_TEXTS if ticking else {})}
    calls = {seconds: _call(seconds) for seconds in ANNOUNCED_SECONDS}
    return {**{name: gettext(said) for name, said in words.items()}, "calls": calls}


def _call(seconds: int) -> str:
    return ngettext("{number} second left", "{number} seconds left", seconds).format(number=seconds)


PERMISSIONS_WITH_MICROPHONE = "camera=(), geolocation=(), microphone=(self), payment=(), usb=()"
"""Browser permissions of a page on which people may speak. All other pages may ask for none."""


@gzip_page
def play_page_response(request: HttpRequest, *, seat: Seat, continue_url: str, **more: Any) -> HttpResponse:
    """Return the whole play page of a seat at its present step, gzip-compressed.

    `continue_url` is the address of the next page. `more` is added to the template context; `label` replaces
    the episode's label. `guide_text` stands above the world's guide. Nothing from the request is on the page,
    so its compressed length reveals no secret (BREACH attack).
    """
    page, view = seat_view.world_page_of(seat), seat_view.current_seat_view(seat)
    scene = page.scene if seat.episode.three_dimensions else ""
    context = page_context(
        page,
        view,
        socket_path=f"/ws/{'ticks' if view.timing.tick_ms else 'seat'}/{seat.key}/",
        continue_url=continue_url,
        asks_first=seat.episode.asks_first,
        recommends_sound=seat.episode.recommends_sound,
        script_words=script_texts(scene=bool(scene), ticking=bool(view.timing.tick_ms)),
        scene=scene,
        **slider_context(seat),
        **{"label": view.label, **more},
    )
    response = render_template(request, "kitchen/play/play.html", context)
    response["Cache-Control"] = "no-store"
    if view.talk.spoken:
        response["Permissions-Policy"] = PERMISSIONS_WITH_MICROPHONE
    return response


def slider_context(seat: Seat) -> dict[str, Any]:
    """Return the template context of the slider beside the game, with its last value. Empty without one."""
    slider = RatingSlider.read(seat.episode.rating_slider)
    if slider is None:
        return {}
    ratings = SliderRating.objects.filter(episode=seat.episode_id, seat=seat.number)
    last = ratings.order_by("-pk").values_list("value", flat=True).first()
    return {"rating_slider": slider.in_language(current_language()), "slider_value": last}


def jinja_environment(**options: Any) -> Environment:
    """Create the Jinja2 environment for panels, with autoescape, `static` and translations. Undefined names
    in a template raise an error."""
    ours = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined, "autoescape": True}
    made = Environment(**{**options, **ours})  # noqa: S701 - escaped, two lines above
    made.globals["static"] = static
    made.add_extension("jinja2.ext.i18n")
    made.install_gettext_callables(  # type: ignore[attr-defined] # the extension has it
        gettext, ngettext, newstyle=True, pgettext=pgettext
    )
    return made


log = logging.getLogger(__name__)


def preload_pages() -> None:
    """Load all worlds with their pages, all panel templates and the URL configuration.

    An error is only logged. It occurs again when the failed part is needed.
    """
    try:
        for world in known_worlds():
            get_world(world), get_page(world)
        panels: Any = engines["panels"]
        for name in panels.env.list_templates(extensions=["jinja"]):
            panels.env.get_template(name)
        _ = get_resolver().url_patterns
    except Exception:  # a third-party world may raise any error
        log.exception("not all was loaded before the first page")
    gc.collect()
    gc.freeze()  # as in brigade/asgi.py: these objects are never freed
