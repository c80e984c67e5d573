"""Show the media files of a study in the HTML of its texts. The module imports no Django.

An image in Markdown whose address is `media:NAME` becomes an image, a player for sound or video, or a link to
a download. A transcript comes below the paragraph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from markdown_it.token import Token

from kitchen.words.gettext_without_django import gettext
from study.design.media.media_limits import MIB
from study.design.media.media_plans import SCHEME, MediaPlan


@dataclass(frozen=True, slots=True)
class ShownMedia:
    """The media files that a text may show, by name, and their addresses for this reader."""

    plans: Mapping[str, MediaPlan] = field(default_factory=dict)
    prefix: str = ""
    """The address of a file is the prefix, the file's hash, a slash and its name."""

    def address(self, plan: MediaPlan) -> str:
        """Return the address of a file for this reader."""
        return f"{self.prefix}{plan.sha256}/{plan.name}"

    @property
    def addresses(self) -> frozenset[str]:
        """Return the addresses of all files."""
        return frozenset(map(self.address, self.plans.values()))


NO_MEDIA = ShownMedia()
TAGS = frozenset({"img", "audio", "video", "details", "summary"})
"""Tags that media need beside those of other texts."""
ATTRIBUTES = {
    "img": {"src", "alt", "width", "height", "loading"},
    "audio": {"src", "controls", "preload", "aria-label"},
    "video": {"src", "controls", "preload", "aria-label", "playsinline"},
    "a": {"href", "download"},
}


def with_media(tokens: Sequence[Token], media: ShownMedia) -> list[Token]:
    """Return the tokens of a Markdown text in which the images with the address of a file show this file."""
    result: list[Token] = []
    transcripts: list[str] = []
    for token in tokens:
        for child in token.children or ():
            if child.type == "image" and (plan := _plan(child, media)):
                child.type, child.content = "html_inline", _html(plan, child.content, media)
                transcripts += [plan.transcript] if plan.transcript.strip() else []
        result.append(token)
        if token.nesting == -1 and token.type in {"paragraph_close", "heading_close"} and transcripts:
            result += [_transcript(text) for text in transcripts]
            transcripts = []
    return result


def _plan(image: Token, media: ShownMedia) -> MediaPlan | None:
    source = str(image.attrs.get("src", ""))
    return media.plans.get(source.removeprefix(SCHEME)) if source.startswith(SCHEME) else None


def _html(plan: MediaPlan, words: str, media: ShownMedia) -> str:
    """Return the HTML of one file. `words` are the description in the text; without them, the file's own is
    used."""
    address, told = escape(media.address(plan)), escape(words.strip() or plan.alt)
    if plan.kind == "image":
        size = f' width="{plan.width}" height="{plan.height}"' if plan.width else ""
        return f'<img src="{address}" alt="{told}"{size} loading="lazy">'
    if plan.kind == "sound":
        return f'<audio src="{address}" controls preload="metadata" aria-label="{told or plan.name}"></audio>'
    if plan.kind == "video":
        named = f'aria-label="{told or plan.name}"'
        return f'<video src="{address}" controls preload="metadata" playsinline {named}></video>'
    ending = plan.name.rpartition(".")[2].upper()
    return (
        f'<a href="{address}" download="{plan.name}">{told or plan.name} ({ending}, {size_words(plan)})</a>'
    )


def size_words(plan: MediaPlan) -> str:
    """Return the size of a file as text, such as `1.2 MB`."""
    return f"{plan.size / MIB:.1f} MB" if plan.size >= MIB else f"{max(1, round(plan.size / 1024))} KB"


def _transcript(text: str) -> Token:
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())
    heading = escape(gettext("Read what is said"))
    content = f"<details><summary>{heading}</summary>{paragraphs}</details>\n"
    return Token("html_block", "", 0, content=content, block=True)
