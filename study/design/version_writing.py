"""The versions of a study: what it was like when somebody entered."""

from __future__ import annotations

from django.db import transaction

from study.design.blueprint import blueprint_of
from study.design.models import Study, Version
from study.design.versions import tells


@transaction.atomic
def version_current(*, study_id: int, whole: bool = False) -> Version:
    """The version that is as the study is now: the latest one, or a new one if anything was changed. A
    document of an older format is compared in what it tells, unless the `whole` design is to be told."""
    study = Study.objects.select_for_update().get(pk=study_id)
    blueprint = blueprint_of(study)
    latest = study.versions.order_by("-number").first()
    if latest and (latest.digest == blueprint.digest if whole else tells(latest, blueprint)):
        return latest
    return Version.objects.create(
        study=study,
        number=latest.number + 1 if latest else 1,
        document=blueprint.to_json(),
        digest=blueprint.digest,
    )
