"""Panels as HTML. What was drawn once is kept for every page of this process that shows the same in the same
language."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.utils.safestring import SafeString, mark_safe

from kitchen.contract.page import Page, Panel
from kitchen.contract.world import Json
from kitchen.words.speech import language

KEPT = 8192
"""Drawings; a few hundred bytes to two kilobytes each."""
GUIDES = 64
"""Guides and references; some ten kilobytes each."""


class Frame(NamedTuple):
    """A panel without what its parts show, in one language."""

    id: str
    template: str
    shows: NamedTuple
    make: Callable[[Any], Mapping[str, Json]] | None
    parts: tuple[str, ...]
    language: str


def frame(panel: Panel) -> Frame:
    """What of a panel is drawn by its own template."""
    parts = tuple([part.id for part in panel.parts]) if panel.parts else ()
    return Frame(panel.id, panel.template, panel.shows, panel.make, parts, language())


@lru_cache(maxsize=KEPT)
def drawn(wanted: Frame) -> tuple[Frame, str]:
    """The HTML of a frame, with a gap for each part, and the frame itself, which all who show it share. It is
    drawn in the language of who asks, which is that of the frame."""
    context = wanted.make(wanted.shows) if wanted.make else wanted.shows._asdict()
    own = {"id": wanted.id, "parts": {part: gap(part) for part in wanted.parts}}
    return wanted, _render(wanted.template, {**context, **own})


def ids(panels: Iterable[Panel]) -> Iterator[str]:
    """Those of these panels and of all within them."""
    for panel in panels:
        yield panel.id
        yield from ids(panel.parts)


def gap(name: str) -> SafeString:
    """Stands where this part of a panel belongs; the page puts the part there that it has."""
    return mark_safe(f'<template id="{name}"></template>')  # noqa: S308


def narrowed(html: str) -> str:
    """The same with one gap for parts that stand side by side: their ids in a row."""
    return html.replace('"></template><template id="', " ")


def whole(panel: Panel) -> SafeString:
    """The panel's HTML with all its parts."""
    _, html = drawn(frame(panel))
    for part in panel.parts:
        html = html.replace(gap(part.id), whole(part), 1)
    return mark_safe(html)  # noqa: S308 - drawn by templates that escape


def layout(page: Page, panels: Mapping[str, SafeString], shown: str) -> SafeString:
    """The panels as the world arranges them where people see so much of it."""
    return mark_safe(_render(page.layout, {"panels": panels, "shown": shown}))  # noqa: S308


def overview(page: Page, panels: Mapping[str, SafeString], shown: str) -> SafeString:
    """Likewise for somebody who looks on without a seat."""
    return mark_safe(_render(page.overview_layout, {"panels": panels, "shown": shown}))  # noqa: S308


def guide(
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
    return _book(page, page.guide, json.dumps(brief), language(), **how)


def reference(page: Page, brief: Mapping[str, Json]) -> SafeString:
    """What can be looked up beside play; empty where there is nothing."""
    if not page.reference:
        return SafeString()
    return _book(page, page.reference, json.dumps(brief), language())


@lru_cache(maxsize=GUIDES)
def _book(page: Page, template: str, text: str, spoken: str, **how: bool) -> SafeString:
    brief = json.loads(text)
    context = {"brief": brief, "handbook": page.handbook(brief), **how}
    return mark_safe(_render(template, context))  # noqa: S308


def _render(template: str, context: Mapping[str, Any]) -> str:
    engine = engines["panels"]
    assert isinstance(engine, Jinja2)  # noqa: S101 - as `TEMPLATES` says
    return engine.env.get_template(template).render(context)
