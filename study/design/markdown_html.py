"""Convert Markdown that researchers write to HTML, without scripts or other unsafe markup."""

from __future__ import annotations

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from study.design.media_html import ATTRIBUTES, NO_MEDIA, TAGS, ShownMedia, with_media

_reader = MarkdownIt("commonmark").enable("table")
_BLOCKS = {"p", "h2", "h3", "h4", "ul", "ol", "li", "br", "hr", "blockquote", "pre"}
_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
_TAGS = _BLOCKS | _TABLES | {"strong", "em", "a", "code"}


def to_html(text: str, media: ShownMedia = NO_MEDIA) -> SafeString:
    """Return the text as HTML. Scripts, styles and markup outside the allowed tags are removed. `media` are
    the study's files that the text may show; other images are removed."""
    html = _headed(text, media)
    if not media.plans:
        cleaned = nh3.clean(html, tags=_TAGS, attributes={"a": {"href"}}, link_rel="noopener")
        return mark_safe(cleaned)  # noqa: S308 - cleaned on the line above
    own = media.addresses

    def kept(tag: str, name: str, value: str) -> str | None:
        return None if name == "src" and value not in own else value

    cleaned = nh3.clean(
        html, tags=_TAGS | TAGS, attributes=ATTRIBUTES, attribute_filter=kept, link_rel="noopener"
    )
    return mark_safe(cleaned)  # noqa: S308 - cleaned on the line above


def _headed(text: str, media: ShownMedia) -> str:
    """Return the Markdown text as HTML in which each first-level heading is a second-level heading. Every
    page already has its own first-level heading."""
    tokens = _reader.parse(text)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag
    if media.plans:
        tokens = with_media(tokens, media)
    return str(_reader.renderer.render(tokens, _reader.options, {}))
