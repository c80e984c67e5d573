"""Freezing: the design as it is now becomes the preregistration."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from study.design.errors import DesignError
from study.design.models import Study, Version
from study.design.preregistration import bundle_of
from study.design.readiness import hindrances
from study.design.version_writing import version_current


@transaction.atomic
def study_freeze(*, study_id: int, user: Any) -> Version:
    """The present design, preregistered with its hash and date; once more for what is frozen changes nothing.

    DesignError while something hinders the study from taking people.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if missing := hindrances(study):
        raise DesignError(f"Nothing is frozen. First: {missing[0].words}")
    version = version_current(study_id=study_id)
    if version.frozen_at is None:
        version = version_current(study_id=study_id, whole=True)
    if version.frozen_at is None:
        version.frozen_at, version.frozen_by = timezone.now(), user
        version.bundle = bundle_of(
            version.blueprint,
            at=version.frozen_at.isoformat(timespec="seconds"),
            by=user.get_username(),
            version=version.number,
        )
        version.bundle_digest = version.bundle["sha256"]
        version.save(update_fields=["frozen_at", "frozen_by", "bundle", "bundle_digest"])
    return version
