"""What a study is told before it takes people: of its design, and of what programs played of it."""

from __future__ import annotations

from kitchen.words.counting import and_list, counted
from study.analysis.statistics.spread import Spread
from study.analysis.tried import PLAYED, tried_spreads, tried_told
from study.design.models import Study
from study.design.readiness import Missing, missing


def lacking(study: Study) -> list[Missing]:
    """What hinders, then what is to be considered: of the design, then of a dry run."""
    return [*missing(study), *_tried(study)]


def unmeasured_told(study: Study) -> list[str]:
    """What it cannot measure, a sentence each that begins with its conditions: by their settings, and by what
    programs played of them. What is alike in several is told once."""
    names: dict[str, list[str]] = {}
    for row in study.conditions.all():
        for words in row.unmeasured:
            names.setdefault(words, []).append(row.name)
    return [*(f"{and_list(of)}: {words}" for words, of in names.items()), *_together(study)]


def _together(study: Study) -> list[str]:
    """What programs have shown, once for all conditions of which it is so, with the episodes of each."""
    rows, found = study.conditions.all(), tried_spreads(study)
    alike: dict[tuple[str, str], list[tuple[str, Spread]]] = {}
    for row in rows:
        for one in found.get(row.key, ()):
            alike.setdefault((one.what, one.so), []).append((row.name, one))
    return [_of_several(several) for several in alike.values()]


def _of_several(several: list[tuple[str, Spread]]) -> str:
    [(name, first), *others] = several
    if not others:
        return f"{name}: {PLAYED} {first}"
    names = and_list([f"{name} ({one.where})" for name, one in several])
    return f"{names}: Programs played them: {first.bare}"


def to_mind(study: Study) -> str:
    """The first thing that it cannot measure, and how many more there are: pages have them all. Empty where
    there is nothing."""
    told = unmeasured_told(study)
    rest = counted(len(told) - 1, "more such thing")
    more = f" ({rest}: see “To consider” in Design.)" if len(told) > 1 else ""
    return f"{told[0]}{more}" if told else ""


def _tried(study: Study) -> list[Missing]:
    rows, told = study.conditions.all(), tried_told(study)
    return [
        Missing(f"{row.name}: {words}", "condition", (row.pk,), hinders=False)
        for row in rows
        for words in told.get(row.key, ())
    ]
