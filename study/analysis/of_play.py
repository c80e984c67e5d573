"""What was measured of play beside the score (`study.design.of_play`), read for many episodes at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from kitchen.play.conduct import Conduct, Seated, conduct_by_seat
from kitchen.play.foresights import foreseen_by_episode, foresight_of
from study.design.of_play import CONDUCT, FORESIGHT

Values = dict[str, float | None]
"""By the key of the measure."""
Played = tuple[str, int, int]
"""Key of the condition, episode, seat."""
AT_ONCE = 200
"""Episodes whose notes are read at once."""


def values_of_play(played: Iterable[Played], wanted: Mapping[str, Collection[str]]) -> dict[Seated, Values]:
    """Each measure's value by episode and seat; `wanted` are the conditions in which each is measured, by
    key. Nothing is read of what is not measured."""
    rounds = list(played)
    found: dict[Seated, Values] = defaultdict(dict)
    shares = _shares({episode for key, episode, _ in rounds if key in wanted.get(FORESIGHT.key, ())})
    anywhere = {key for one in CONDUCT for key in wanted.get(one.key, ())}
    conduct = conduct_by_seat({episode for key, episode, _ in rounds if key in anywhere})
    for key, episode, seat in rounds:
        told = {FORESIGHT.key: shares.get(episode), **_told(conduct.get((episode, seat), Conduct()))}
        found[episode, seat] = {name: value for name, value in told.items() if key in wanted.get(name, ())}
    return dict(found)


def _told(conduct: Conduct) -> Values:
    return {one.key: getattr(conduct, one.key) for one in CONDUCT}


def _shares(episodes: Collection[int]) -> dict[int, float | None]:
    """Of what was foreseen, what came true, by episode."""
    several, found = sorted(episodes), dict[int, float | None]()
    for first in range(0, len(several), AT_ONCE):
        foreseen = foreseen_by_episode(several[first : first + AT_ONCE])
        found |= {pk: foresight_of(by_mind).share for pk, by_mind in foreseen.items()}
    return found
