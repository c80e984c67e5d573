"""Whose data are exported: everybody's, all of them marked, unless somebody is left out; and whether what an
outage of ours touched is there, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Self

from django.db.models import Q, QuerySet

from study.design.models import Study
from study.people.models import Participant

KINDS: Mapping[str, str] = {
    "people": "people",
    "synthetic": "synthetic participants (programs)",
    "preview": "previews by staff",
    "excluded": "those whom staff excluded",
}
"""Who can be left out; staff who preview are counted as neither people nor programs."""


OUTAGES: Mapping[str, str] = {
    "outage_steps": "steps that an outage touched",
    "outage_episodes": "episodes that an outage touched",
}
"""What else can be left out: of steps, commands and decisions; of these, episodes and answers."""
ALL_KINDS: Mapping[str, str] = {**KINDS, **OUTAGES}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which rows are in the files; the fields are keys of `ALL_KINDS`."""

    people: bool = True
    synthetic: bool = True
    preview: bool = True
    excluded: bool = True
    outage_steps: bool = True
    outage_episodes: bool = True

    @classmethod
    def without(cls, kinds: Iterable[str]) -> Self:
        """Everything but these; ValueError for a kind that is none."""
        left = set(kinds)
        if unknown := left - ALL_KINDS.keys():
            known = ", ".join(ALL_KINDS)
            raise ValueError(f"{', '.join(sorted(unknown))}: cannot be left out; there are {known}")
        return cls(**dict.fromkeys(left, False))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Kinds that are not in the files."""
        return tuple(kind for kind, inside in asdict(self).items() if not inside)

    def participants(self, study: Study) -> QuerySet[Participant]:
        """Those whose rows are in the files, by number."""
        real, program = Q(preview=False, synthetic=False), Q(preview=False, synthetic=True)
        participants = study.participants.order_by("number")
        for inside, which in (
            (self.people, real),
            (self.synthetic, program),
            (self.preview, Q(preview=True)),
        ):
            participants = participants if inside else participants.exclude(which)
        return participants if self.excluded else participants.filter(excluded_at=None)


EVERYBODY = Chosen()
