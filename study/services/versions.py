"""The versions of a study: what it was like when somebody entered."""

from __future__ import annotations

from django.db import transaction

from study.blueprint import blueprint_of
from study.models import Study, Version


@transaction.atomic
def version_current(*, study_id: int) -> Version:
    """The version that is as the study is now: the latest one, or a new one if anything was changed."""
    study = Study.objects.select_for_update().get(pk=study_id)
    blueprint = blueprint_of(study)
    latest = study.versions.order_by("-number").first()
    if latest and latest.digest == blueprint.digest:
        return latest
    return Version.objects.create(
        study=study,
        number=latest.number + 1 if latest else 1,
        document=blueprint.to_json(),
        digest=blueprint.digest,
    )
