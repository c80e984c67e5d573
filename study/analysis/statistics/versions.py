"""Which versions of a study an analysis pools, and what a reader has to know of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kitchen.words.counting import counted
from study.analysis.statistics.rows import Observation


@dataclass(frozen=True, slots=True)
class DesignVersion:
    """One version of the study's design. `frozen`: this very design was preregistered;
    `changed_since_freeze`: the study had been preregistered before, and this is not what was;
    `planned_later`: what is analysed was preregistered otherwise, after this version."""

    number: int
    frozen: bool = False
    changed_since_freeze: bool = False
    planned_later: bool = False


@dataclass(frozen=True, slots=True)
class VersionUsed:
    """One version with its participants of those analysed; `early` of them entered before it was frozen."""

    version: DesignVersion
    participants: int
    early: int = 0

    @property
    def as_planned(self) -> int:
        """Of how many the tests were planned before they took part."""
        is_so = self.version.frozen and not self.version.planned_later
        return self.participants - self.early if is_so else 0


def used(rows: Sequence[Observation], versions: Sequence[DesignVersion]) -> tuple[VersionUsed, ...]:
    """Those of these versions that anybody of the rows took part in, in their order."""
    people = {row.participant: (row.version, row.before_freeze) for row in rows}
    took_part = (
        (one, [early for number, early in people.values() if number == one.number]) for one in versions
    )
    return tuple(VersionUsed(one, len(early), sum(early)) for one, early in took_part if early)


def warnings(versions: Sequence[VersionUsed], differing: Sequence[str] = ()) -> list[str]:
    """What stands against reading these data as one preregistered sample, a sentence each; `differing` are
    labels of measures that not all versions asked alike."""
    said = [_pooled(versions)] if len(versions) > 1 else []
    said += [f"“{label}” was not asked alike in all of these versions." for label in differing]
    changed = [one for one in versions if one.version.changed_since_freeze]
    if changed:
        said.append(f"{_people(changed)} took part in a design changed since the preregistration.")
    later = [one for one in versions if one.version.planned_later]
    if before := [one for one in later if not one.version.frozen]:
        said.append(f"{_people(before)} took part before anything was preregistered.")
    if earlier := [one for one in later if one.version.frozen]:
        said.append(f"{_people(earlier)} took part under an earlier preregistration than the one analysed.")
    if early := sum(one.early for one in versions):
        said.append(f"{counted(early, 'participant')} entered before the design was preregistered.")
    return said


def _pooled(versions: Sequence[VersionUsed]) -> str:
    each = ", ".join(f"version {one.version.number} ({one.participants})" for one in versions)
    return f"Data of {len(versions)} versions of the study are pooled here: {each}."


def _people(versions: Sequence[VersionUsed]) -> str:
    numbers = ", ".join(str(one.version.number) for one in versions)
    people = counted(sum(one.participants for one in versions), "participant")
    return f"{people} (version {numbers})"
