"""participants.csv: a row for each participant who did not withdraw, with every answer and score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.conf import settings

from kitchen.infra.database_writes import batches_of
from study.analysis.analysis_sample import EXCLUSION_REASONS, exclusion_reasons
from study.design.metric_and_scale_names import scale_keys, study_figures
from study.design.models import Study
from study.design.play_metrics import PLAY_METRICS
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.study_versions import FreezeState, freeze_states, version_blueprints
from study.exports.export_table import (
    PARTICIPANT_COLUMNS,
    PERSON_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.participant_columns import (
    ParticipantData,
    WideColumn,
    participant_data,
    wide_columns,
)
from study.exports.tables.played_episodes import PEOPLE, not_withdrawn
from study.participants.models import Participant
from study.participants.simulated_effects import describe_effects

REFERRALS = tuple(dict.fromkeys(name for place in RECRUITMENT_PLACES.values() for name in place.more))
"""Further link parameters, as the recruitment platforms name them."""

COLUMNS = (
    *PARTICIPANT_COLUMNS,
    *file_columns("participants", exit_status=Participant.Status.values),
    *PERSON_MARKS,
    *file_columns("participants_origin", source=Study.Recruitment.values),
    *(Column(f"referral.{name}", "text", f"{name} of the link.") for name in REFERRALS),
    *file_columns(
        "participants_later",
        left_out_of_analysis=EXCLUSION_REASONS,
        language=", ".join(f"{code} ({name})" for code, name in settings.LANGUAGES),
    ),
)


def _cells(
    study: Study, person: Participant, data: ParticipantData, state: FreezeState, left_out: str | None
) -> tuple[Any, ...]:
    """Return the cells of `COLUMNS`."""
    version, referral, label = person.version, person.referral, person.label or None
    return (
        person.code,
        person.synthetic,
        person.number,
        person.status,
        " ".join(data.order),
        data.answered,
        person.consented_at,
        person.consent_hash,
        person.ended_at,
        person.given_code or None,
        person.preview,
        person.excluded_at is not None,
        version.number,
        state.changed_since_freeze,
        person.excluded_at,
        person.excluded_reason or None,
        person.end_reason or None,
        state.version_frozen,
        version.digest,
        person.sequence,
        person.source,
        label,
        *map(referral.get, REFERRALS),
        person.entered_at,
        person.active_at,
        data.attempts,
        data.passed,
        data.attention,
        data.attention_failed,
        person.code,
        person.number,
        label,
        person.synthetic,
        data.page,
        person.entered_at,
        label if person.source == Study.Recruitment.MTURK else None,
        referral.get("assignmentId"),
        study.slug,
        study.title,
        referral.get("hitId"),
        person.preview,
        state.before_freeze(person.entered_at),
        left_out,
        person.language,
        describe_effects(person.known_effects) or None,
    )


def rows(study: Study, chosen: ExportSelection, wide: Sequence[WideColumn]) -> Iterator[RowGroup]:
    """Yield one row per participant, by number, without those who withdraw meanwhile."""
    versions = {version.pk: version for version in study.versions.all()}
    states, out = freeze_states(study), exclusion_reasons(study)
    slots, figures = [column.slot for column in wide], study_figures(study)
    keys = scale_keys(version_blueprints(study))
    of_play = {
        key: {one.condition or "" for one in slots if one[1:3] == ("play", key)} for key in PLAY_METRICS
    }
    participants = chosen.participants(study).filter(version__in=versions).iterator(chunk_size=PEOPLE)
    for chunk in batches_of(participants, PEOPLE):
        data = participant_data(chunk, versions, figures, keys=keys, of_play=of_play)
        there = not_withdrawn(data)
        cells = list[tuple[Any, ...]]()
        for person in chunk:
            if person.pk in there:
                person.version = versions[person.version_id]
                theirs = data[person.pk]
                fixed = _cells(study, person, theirs, states[person.version_id], out.get(person.pk))
                cells.append((*fixed, *map(theirs.values.get, slots)))
        yield RowGroup((), cells)


TABLE = ExportTable(
    "participants",
    "Everybody who entered and did not withdraw, wide: with every answer and score.",
    COLUMNS,
    rows,
    partial(wide_columns, taken=[column.name for column in COLUMNS]),
)
