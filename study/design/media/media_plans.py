"""Define a media file as a study's design names it, and find the files that texts show.

A text shows a file with `![description](media:NAME)`. The module imports no Django.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from kitchen.contract.data_files import Record

SCHEME = "media:"
"""Addresses in Markdown that name a file of the study begin so."""
_SHOWN = re.compile(r"\]\(\s*<?media:([^\s<>()\"']*)")


class MediaPlan(Record):
    """A file that the design's texts show. The fields mean the same as in
    `study.design.models.StudyMedia`."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    kind: str
    size: int
    alt: str = ""
    transcript: str = ""
    width: int = 0
    height: int = 0

    @property
    def key(self) -> str:
        """Return the file's name in paths of texts, which contain no further dots."""
        return media_key(self.name)


def media_key(name: str) -> str:
    """Return a file's name without a dot. Two names never have the same key, because endings are fixed."""
    return name.replace(".", "-")


def names_shown(texts: Iterable[str]) -> list[str]:
    """Return the names of the files that these texts show, each once, in order."""
    return list(dict.fromkeys(name for text in texts for name in _SHOWN.findall(text)))


def media_markdown(plan: MediaPlan) -> str:
    """Return the Markdown that shows a file."""
    words = re.sub(r"[\[\]\\\n]+", " ", plan.alt).strip()
    return f"![{words}]({SCHEME}{plan.name})"


def media_problem(text: str, media: Mapping[str, object]) -> str:
    """Return why a text cannot show its files. Return an empty string if it can. `media` are the study's
    files by name."""
    if missing := next((name for name in names_shown([text]) if name not in media), ""):
        return f"“{missing}” is not among the study's media. Upload it, or remove it from the text."
    return ""


def shown_texts(design: object) -> list[str]:
    """Return the texts of a design that may show files, in every language. `design` is a `Blueprint`."""
    parts, pages, outcomes = (getattr(design, name) for name in ("parts", "pages", "outcomes"))
    study: Mapping[str, object] = design.study  # type: ignore[attr-defined]
    translated = study.get("texts") or {}
    assert isinstance(translated, Mapping)  # noqa: S101 - texts by language and path
    return [
        *(one.text for rows in (parts, pages, outcomes) for one in rows),
        *(text for texts in translated.values() for text in texts.values()),
    ]
