"""What a study is told before it takes people: of its design, and of what programs played of it."""

from __future__ import annotations

from kitchen.words.counting import counted
from study.analysis.tried import tried_told
from study.design.models import Study
from study.design.readiness import Missing, missing


def lacking(study: Study) -> list[Missing]:
    """What hinders, then what is to be considered: of the design, then of a dry run."""
    return [*missing(study), *_tried(study)]


def unmeasured_told(study: Study) -> list[str]:
    """What it cannot measure, a sentence each that begins with its condition: by its settings, and by what
    programs played."""
    settings = [f"{row.name}: {words}" for row in study.conditions.all() for words in row.unmeasured]
    return [*settings, *(one.words for one in _tried(study))]


def minded(study: Study, words: str) -> str:
    """The words, and after them the first thing that it cannot measure, and how many more there are: pages
    have them all."""
    told = unmeasured_told(study)
    if not told:
        return words
    more = f" ({counted(len(told) - 1, 'more such thing')}: see “To consider”.)" if len(told) > 1 else ""
    return f"{words} But mind: {told[0]}{more}"


def _tried(study: Study) -> list[Missing]:
    rows, told = study.conditions.all(), tried_told(study)
    return [
        Missing(f"{row.name}: {words}", "condition", (row.pk,), hinders=False)
        for row in rows
        for words in told.get(row.key, ())
    ]
