"""Find an episode of a study: of a round, of practice, or played while somebody waited."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q
from django.shortcuts import get_object_or_404

from kitchen.play.models import Episode
from study.design.models import Study


def study_episode(study: Study, key: UUID) -> Episode:
    """Return the episode of this study with this key. Raises Http404 if the study has none."""
    theirs = Q(rounds__participant__study=study) | Q(practised_by__study=study)
    theirs |= Q(warmed_up_by__study=study)
    mine = Episode.objects.filter(theirs | Q(first_practised_by__study=study), key=key)
    return get_object_or_404(Episode, pk__in=mine.values("pk"))
