"""Whose an episode is: said once more under its seal, so that none is given to somebody else afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from study.people.models import Participant, Round


def whose_episodes(ids: Sequence[int]) -> Mapping[int, Sequence[Any]]:
    """For each of these episodes its rounds, and who practised in it."""
    said: dict[int, list[Any]] = defaultdict(list)
    of_round = ("episode", "pk", "participant", "participant__study", "condition", "position", "seat")
    for episode, *values in Round.objects.filter(episode__in=ids).order_by().values_list(*of_round):
        said[episode].append(["round", *values])
    for name in ("practice", "first_practice"):
        practised = Participant.objects.filter(**{f"{name}__in": ids}).order_by()
        for episode, *values in practised.values_list(name, "pk", "study"):
            said[episode].append(["practice", *values])
    return said
