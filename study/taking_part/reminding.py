"""Who a team was, for the last questions: when, how many, what was achieved. Nothing is told that was not to
be seen in play: no name of a condition, nor who played beside somebody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kitchen.registry.figures import achieved
from kitchen.words.speech import gettext, ngettext, pgettext
from study.design.blueprint import Blueprint
from study.people.models import Round


@dataclass(frozen=True, slots=True)
class Team:
    """One of the teams that somebody played with."""

    key: str
    """Of the condition; no page shows it."""
    label: str
    said: str = ""
    """What reminds of it; nothing where the study does not remind."""


def teams(design: Blueprint, rounds: Sequence[Round]) -> list[Team]:
    """In the order in which they were played."""
    reminds = design.meant("remind_teams")
    return [_team(design, one, _said(design, one, len(rounds)) if reminds else "") for one in rounds]


def _team(design: Blueprint, one: Round, said: str) -> Team:
    return Team(one.condition.key, design.condition(one.condition.key).label, said)


def _said(design: Blueprint, one: Round, total: int) -> str:
    when = gettext("episode {number} of {total}").format(number=one.position, total=total)
    size = _size(design.condition(one.condition.key).teammates)
    return pgettext("between the things of a list", ", ").join((when, size, *_best_known(one)))


def _size(teammates: int) -> str:
    if not teammates:
        return gettext("you alone")
    words = ngettext("you and {number} teammate", "you and {number} teammates", teammates)
    return words.format(number=teammates)


def _best_known(one: Round) -> tuple[str, ...]:
    """The first of the figures that the page showed when the episode was over."""
    figures = achieved(one.episode.world, one.episode.score) if one.episode else ()
    return tuple(f"{number} {words}" for number, words in figures[:1])
