"""Find the current and the preregistered version of a study's design, and differences between two designs.

A version is the design as it was at one time. Participants are bound to the version under which they entered.
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
    OWN_PAGES,
    Blueprint,
    blueprint_of,
)
from study.design.models import Study, Version


@dataclass(frozen=True, slots=True)
class FreezeState:
    """The relation of one version of a design to the preregistration. Exports have these values."""

    version: int
    """The version's number."""
    version_frozen: bool
    """True if exactly this design was preregistered."""
    changed_since_freeze: bool
    """True if an earlier version was preregistered and this design differs from it."""
    frozen_at: datetime | None = None
    """The time at which this design was first preregistered, or None."""

    def before_freeze(self, entered_at: datetime) -> bool | None:
        """Return whether a participant entered (at the time `entered_at`) before this version was
        preregistered. Return None if the version was never preregistered."""
        return None if self.frozen_at is None else entered_at < self.frozen_at


def freeze_states(study: Study) -> dict[int, FreezeState]:
    """Return the `FreezeState` of every version of a study, by the version's id. This takes at most two
    queries."""
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
    """Return the designs that were preregistered or under which participants entered, oldest first. If there
    are none, return the current design.

    A version is left out if only staff previewed it and these previews were erased.
    """
    met = Q(frozen_at__isnull=False) | Q(pk__in=study.participants.order_by().values("version"))
    versions = study.versions.filter(met).defer("bundle").order_by("number")
    return [version.blueprint for version in versions] or [blueprint_of(study)]


def matches_design(version: Version, design: Blueprint) -> bool:
    """Return True if the version has exactly this design.

    If the version's document has an older format, it lacks some fields. The design must have the implied
    default in these fields.
    """
    number = version.document["format"]
    same = design.format >= number and version.digest == design.in_format(number).digest
    return same and not design.beyond(number)


def frozen_version(study: Study) -> Version | None:
    """Return the version that was preregistered last. Return None if there is no preregistration."""
    return study.versions.exclude(frozen_at=None).order_by("-number").first()


def participants_as_preregistered(study: Study) -> Q:
    """Return a filter for participants who entered under the last preregistered design, after it was frozen.

    The filter matches nobody if there is no preregistration.
    """
    frozen, states = frozen_version(study), freeze_states(study)
    at = states[frozen.pk].frozen_at if frozen else None
    if at is None:
        return Q(pk__in=[])
    return Q(version__in=[pk for pk, one in states.items() if one.frozen_at == at], entered_at__gte=at)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two designs differ. `old` or `new` is None if that design does not have the
    field."""

    where: str
    """The row that differs: `condition two_dispatched`, `item trust`, `part consent`, or `study`."""
    field: str
    old: Json
    new: Json


def differences(old: Blueprint, new: Blueprint) -> list[Difference]:
    """Return the differences between two designs, field by field, in the order of the design.

    An added or removed condition, item, part or outcome is one difference. A field that the old document's
    format lacks is compared by its implied default.
    """
    untold = list(_unrecorded_differences(old, new)) if new.beyond(old.format) else []
    differing: list[Difference] = []
    new = new.in_format(old.format)
    before, after = _rows_by_place(old), _rows_by_place(new)
    for where in dict.fromkeys([*before, *after]):
        differing += _field_differences(where, before.get(where), after.get(where))
    for what, was, now in (
        ("conditions", [one.key for one in old.conditions], [one.key for one in new.conditions]),
        ("items", [one.key for one in old.items], [one.key for one in new.items]),
        ("pages", [one.key for one in old.pages], [one.key for one in new.pages]),
    ):
        if sorted(was) == sorted(now) and was != now:
            differing.append(Difference("study", f"order of {what}", was, now))
    return differing + untold


def _unrecorded_differences(old: Blueprint, new: Blueprint) -> Iterator[Difference]:
    """Yield the differences in fields that the old document's format lacks. The old design counts as having
    the implied default in these fields."""
    for name in IMPLIED_DEFAULTS:
        if old.meant(name) != new.meant(name):
            yield Difference("study", name, old.meant(name), new.meant(name))
    if old.format < OWN_PAGES:
        for page in new.pages:
            yield Difference(f"page {page.key}", "all of it", None, page.model_dump(mode="json"))
        for file in new.media:
            yield Difference(f"file {file.name}", "all of it", None, file.model_dump(mode="json"))
    yield from _unrecorded_plan_differences("item", ITEM_FIELD_FORMATS, (old.items, new.items), old.format)
    yield from _unrecorded_plan_differences(
        "condition", CONDITION_FIELD_FORMATS, (old.conditions, new.conditions), old.format
    )


def _unrecorded_plan_differences(
    what: str, since: Mapping[str, int], plans: tuple[Sequence[Any], Sequence[Any]], number: int
) -> Iterator[Difference]:
    """Yield the differences of conditions or items that both designs have, in fields that the old document's
    format lacks.

    `what` names the kind of row. `since` maps fields to the format that introduced them. `number` is the
    format of the old document.
    """
    was = {one.key: one for one in plans[0]}
    for one in (one for one in plans[1] if one.key in was):
        for name in (name for name, first in since.items() if first > number):
            if (before := getattr(was[one.key], name)) != (now := getattr(one, name)):
                yield Difference(f"{what} {one.key}", name, before, now)


def _rows_by_place(design: Blueprint) -> dict[str, dict[str, Any]]:
    document = design.to_json()
    rows = [
        *((f"condition {row['key']}", row) for row in document["conditions"]),
        *((f"part {row['kind']}", row) for row in document["parts"]),
        *((f"item {row['key']}", row) for row in document["items"]),
        *((f"page {row['key']}", row) for row in document.get("pages", ())),
        *((f"file {row['name']}", row) for row in document.get("media", ())),
        *((f"end {row['kind']}", row) for row in document.get("outcomes", ())),
    ]
    return {"study": document["study"], **dict(rows)}


def _field_differences(
    where: str, old: Mapping[str, Json] | None, new: Mapping[str, Json] | None
) -> Iterator[Difference]:
    if old is None or new is None:
        yield Difference(where, "all of it", old, new)
        return
    for field in dict.fromkeys([*old, *new]):
        was, now = old.get(field), new.get(field)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from (
                Difference(where, f"{field}: {d.field}", d.old, d.new)
                for d in _field_differences("", was, now)
            )
        elif was != now:
            yield Difference(where, field, was, now)


@transaction.atomic
def current_version(*, study_id: int, whole: bool = False) -> Version:
    """Return the version that equals the study's current design. If the design has changed since the latest
    version, create a new one.

    If the latest version has an older document format, the fields that it lacks are compared by their implied
    defaults. With `whole`, the documents must be equal in the current format.
    """
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
