"""Versions of a study's design: the current one, the preregistered one, and the differences between two of
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from kitchen.contract.world import Json
from study.design.blueprint import (
    CONDITION_FIELD_FORMATS,
    IMPLIED_DEFAULTS,
    ITEM_FIELD_FORMATS,
    Blueprint,
    blueprint_of,
)
from study.design.models import Study, Version


@dataclass(frozen=True, slots=True)
class FreezeState:
    """What an export says of those who entered under one version."""

    version: int
    """Its number."""
    version_frozen: bool
    """This very design was preregistered."""
    changed_since_freeze: bool
    """The study had been preregistered before, and this is not what was."""
    frozen_at: datetime | None = None
    """When this design was preregistered first; None if it never was."""

    def before_freeze(self, entered_at: datetime) -> bool | None:
        """Whether somebody who entered then did so before this design was preregistered; None if it never
        was."""
        return None if self.frozen_at is None else entered_at < self.frozen_at


def freeze_states(study: Study) -> dict[int, FreezeState]:
    """By the id of every version of a study, in two queries at most."""
    states: dict[int, FreezeState] = {}
    frozen: dict[str, tuple[Version, datetime]] = {}
    for version in study.versions.defer("bundle").order_by("number"):
        if version.frozen_at:
            frozen.setdefault(version.digest, (version, version.frozen_at))
        same = [at for was, at in frozen.values() if matches_design(was, version.blueprint)]
        at = min(same, default=None)
        states[version.pk] = FreezeState(version.number, at is not None, bool(frozen) and at is None, at)
    return states


def version_blueprints(study: Study) -> list[Blueprint]:
    """What participants met or was preregistered, in the order of the versions; the present design where
    there is no such. What only staff met, who erased their previews, is not among them."""
    met = Q(frozen_at__isnull=False) | Q(pk__in=study.participants.order_by().values("version"))
    versions = study.versions.filter(met).defer("bundle").order_by("number")
    return [version.blueprint for version in versions] or [blueprint_of(study)]


def matches_design(version: Version, design: Blueprint) -> bool:
    """Whether a version is this very design: its document tells so, and what it cannot tell yet is as it was
    then."""
    number = version.document["format"]
    same = design.format >= number and version.digest == design.in_format(number).digest
    return same and not design.beyond(number)


def frozen_version(study: Study) -> Version | None:
    """The one that was preregistered last."""
    return study.versions.exclude(frozen_at=None).order_by("-number").first()


def participants_as_preregistered(study: Study) -> Q:
    """Participants who entered under the design that was preregistered last, after it was; nobody if none
    was."""
    frozen, states = frozen_version(study), freeze_states(study)
    at = states[frozen.pk].frozen_at if frozen else None
    if at is None:
        return Q(pk__in=[])
    return Q(version__in=[pk for pk, one in states.items() if one.frozen_at == at], entered_at__gte=at)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not what it was; None where there was or is nothing."""

    where: str
    """`condition two_dispatched`, `item trust`, `part consent`, `study`."""
    field: str
    old: Json
    new: Json


def differences(old: Blueprint, new: Blueprint) -> list[Difference]:
    """Field by field, in the order of the design; what was added or removed whole is one difference. Of what
    the old document says nothing, only that is said which is otherwise than it was then."""
    untold = list(_untold(old, new)) if new.beyond(old.format) else []
    differing: list[Difference] = []
    new = new.in_format(old.format)
    before, after = _named(old), _named(new)
    for where in dict.fromkeys([*before, *after]):
        differing += _between(where, before.get(where), after.get(where))
    for what, was, now in (
        ("conditions", [one.key for one in old.conditions], [one.key for one in new.conditions]),
        ("items", [one.key for one in old.items], [one.key for one in new.items]),
    ):
        if sorted(was) == sorted(now) and was != now:
            differing.append(Difference("study", f"order of {what}", was, now))
    return differing + untold


def _untold(old: Blueprint, new: Blueprint) -> Iterator[Difference]:
    """What differs from how it was before documents could tell."""
    for name in IMPLIED_DEFAULTS:
        if old.meant(name) != new.meant(name):
            yield Difference("study", name, old.meant(name), new.meant(name))
    yield from _untold_plans("item", ITEM_FIELD_FORMATS, (old.items, new.items), old.format)
    yield from _untold_plans(
        "condition", CONDITION_FIELD_FORMATS, (old.conditions, new.conditions), old.format
    )


def _untold_plans(
    what: str, since: Mapping[str, int], plans: tuple[Sequence[Any], Sequence[Any]], number: int
) -> Iterator[Difference]:
    """The same of items or conditions that there were, for what documents have only after this format."""
    was = {one.key: one for one in plans[0]}
    for one in (one for one in plans[1] if one.key in was):
        for name in (name for name, first in since.items() if first > number):
            if (before := getattr(was[one.key], name)) != (now := getattr(one, name)):
                yield Difference(f"{what} {one.key}", name, before, now)


def _named(design: Blueprint) -> dict[str, dict[str, Any]]:
    document = design.to_json()
    rows = [
        *((f"condition {row['key']}", row) for row in document["conditions"]),
        *((f"part {row['kind']}", row) for row in document["parts"]),
        *((f"item {row['key']}", row) for row in document["items"]),
        *((f"end {row['kind']}", row) for row in document.get("outcomes", ())),
    ]
    return {"study": document["study"], **dict(rows)}


def _between(
    where: str, old: Mapping[str, Json] | None, new: Mapping[str, Json] | None
) -> Iterator[Difference]:
    if old is None or new is None:
        yield Difference(where, "all of it", old, new)
        return
    for field in dict.fromkeys([*old, *new]):
        was, now = old.get(field), new.get(field)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from (
                Difference(where, f"{field}: {d.field}", d.old, d.new) for d in _between("", was, now)
            )
        elif was != now:
            yield Difference(where, field, was, now)


@transaction.atomic
def current_version(*, study_id: int, whole: bool = False) -> Version:
    """The version that is as the study is now: the latest one, or a new one if anything was changed. A
    document of an older format is compared in what it tells, unless the `whole` design is to be told."""
    study = Study.objects.select_for_update().get(pk=study_id)
    blueprint = blueprint_of(study)
    latest = study.versions.order_by("-number").first()
    if latest and (latest.digest == blueprint.digest if whole else matches_design(latest, blueprint)):
        return latest
    return Version.objects.create(
        study=study,
        number=latest.number + 1 if latest else 1,
        document=blueprint.to_json(),
        digest=blueprint.digest,
    )
