"""What co-players foresaw of others in episodes, and whether it came true. Nothing here changes anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from kitchen.contract.foreseeing import FORESEEN, JUDGED, Foreseen, Foresight, foreseen_in
from kitchen.play.models import Decision

ByMind = Mapping[int, Sequence[Foreseen]]
"""By the number of the mind, in the order of steps."""


def foreseen_by_episode(episodes: Iterable[int]) -> Mapping[int, ByMind]:
    """All that the minds of these episodes foresaw, in decisions whose commands were given."""
    told = Q(**{f"note__{FORESEEN}__isnull": False}) | Q(**{f"note__{JUDGED}__isnull": False})
    decisions = Decision.objects.filter(told, mind__episode__in=episodes, dropped="").order_by("step")
    fields = ("mind__episode_id", "mind__number", f"note__{FORESEEN}", f"note__{JUDGED}")
    notes: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for episode, mind, foreseen, judged in decisions.values_list(*fields):
        notes[episode, mind].append({FORESEEN: foreseen or (), JUDGED: judged or ()})
    found: dict[int, dict[int, Sequence[Foreseen]]] = defaultdict(dict)
    for (episode, mind), several in sorted(notes.items()):
        found[episode][mind] = foreseen_in(several)
    return found


def foresight_of(by_mind: ByMind) -> Foresight:
    """How much of it came true, whoever foresaw it."""
    return Foresight.of(one for several in by_mind.values() for one in several)
