"""participants.csv: a row for each participant who did not withdraw, with every answer and score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.utils.functional import cached_property

from study.analysis.analysis_sample import EXCLUSION_REASONS, exclusion_reasons
from study.design.models import Study
from study.design.play_metrics import PLAY_METRICS
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.study_metrics import scale_keys, study_figures
from study.design.study_versions import FreezeState, freeze_states, version_blueprints
from study.exports.export_table import (
    PARTICIPANT_COLUMNS,
    PERSON_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    in_chunks,
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
    Column("number", "integer", "Order of entering the study.", levels="1 = first"),
    Column(
        "exit_status", "text", "How far the participant came.", levels=", ".join(Participant.Status.values)
    ),
    Column("sequence", "text", "Keys of the conditions in the order given to this participant."),
    Column("rounds_completed", "integer", "Conditions played and answered.", unit="conditions"),
    Column("consented_at", "time", "When the participant agreed; blank if that was not asked or refused."),
    Column("consent_hash", "text", "SHA-256 of the text and statements that were agreed to."),
    Column("ended_at", "time", "When the participant came to an end, good or bad."),
    Column(
        "completion_code",
        "text",
        "What the participant was given at the end to hand in: the code of that kind of end as it was then, "
        "or an own one; blank if none. Take it out before you publish the data.",
    ),
    *PERSON_MARKS,
    Column("excluded_at", "time", "When staff excluded the participant; blank if nobody did."),
    Column("excluded_reason", "text", "Why."),
    Column("end_reason", "text", "Why staff ended it; blank if they did not."),
    Column("version_frozen", "boolean", "1 if that version of the study was preregistered."),
    Column("version_digest", "text", "SHA-256 of that version's document; see design.json."),
    Column("sequence_id", "integer", "Which sequence of the order scheme; blank for orders of chance."),
    Column("source", "text", "Where the participant came from.", levels=", ".join(Study.Recruitment.values)),
    Column(
        "label",
        "text",
        "Name given by whoever sent the participant, for example a Prolific ID. Take it out before you "
        "publish the data.",
    ),
    *(Column(f"referral.{name}", "text", f"{name} of the link.") for name in REFERRALS),
    Column("entered_at", "time", "When the participant entered the study."),
    Column("active_at", "time", "When the participant last did anything."),
    Column("check_attempts", "integer", "Attempts at the check of understanding.", unit="attempts"),
    Column("check_passed", "boolean", "1 if the last attempt was right; blank without any."),
    Column("attention_checks", "integer", "Attention checks that were answered.", unit="items"),
    Column("attention_checks_failed", "integer", "Those of them not answered correctly.", unit="items"),
    Column("participant.code", "text", "As oTree names it: the same as `participant`."),
    Column("participant.id_in_session", "integer", "As oTree names it: the same as `number`."),
    Column("participant.label", "text", "As oTree names it: the same as `label`."),
    Column("participant._is_bot", "boolean", "As oTree names it: the same as `synthetic`."),
    Column("participant._current_page_name", "text", "As oTree names it: the page that was opened last."),
    Column("participant.time_started_utc", "time", "As oTree names it: the same as `entered_at`."),
    Column("participant.mturk_worker_id", "text", "As oTree names it: `label` of those from MTurk."),
    Column("participant.mturk_assignment_id", "text", "As oTree names it: assignmentId of the link."),
    Column("session.code", "text", "As oTree names it: the study's slug."),
    Column("session.label", "text", "As oTree names it: the study's title."),
    Column("session.mturk_HITId", "text", "As oTree names it: hitId of the link."),
    Column("session.is_demo", "boolean", "As oTree names it: the same as `preview`."),
    Column(
        "entered_before_freeze",
        "boolean",
        "1 if the participant entered before this version was preregistered, so that the data were not "
        "collected as preregistered; blank for a version that never was.",
    ),
    Column(
        "left_out_of_analysis",
        "text",
        "Why the analysis of people (for a program: that of programs) leaves the participant out; blank for "
        "those who are analysed.",
        levels="; ".join(f"{code} ({words})" for code, words in EXCLUSION_REASONS.items()),
    ),
    Column(
        "language",
        "text",
        "In which language the participant read the pages, last if it was changed on the way.",
        levels=", ".join(f"{code} ({name})" for code, name in settings.LANGUAGES),
    ),
    Column(
        "known_effects",
        "text",
        "Of a program that was told what its ratings are to differ by: by item and condition, by what part "
        "of the item's scale. Blank for people, and for programs that answered by what they went through.",
    ),
)


class _Row:
    """The cells of one participant."""

    def __init__(
        self,
        study: Study,
        person: Participant,
        left: ParticipantData,
        state: FreezeState,
        left_out: str | None,
    ) -> None:
        self.study = study
        self.person = person
        self.left = left
        self.state = state
        self.left_out = left_out

    @cached_property
    def label(self) -> str | None:
        return self.person.label or None

    def cells(self) -> tuple[Any, ...]:
        """Return the cells of `COLUMNS`."""
        return (
            *self._way(),
            *self._marks(),
            *self._origin(),
            *self._checks(),
            *self._otree(),
            *self._sample(),
        )

    def _way(self) -> tuple[Any, ...]:
        person = self.person
        return (
            person.code,
            person.synthetic,
            person.number,
            person.status,
            " ".join(self.left.order),
            self.left.answered,
            person.consented_at,
            person.consent_hash,
            person.ended_at,
            person.given_code or None,
        )

    def _marks(self) -> tuple[Any, ...]:
        person, version = self.person, self.person.version
        return (
            person.preview,
            person.excluded_at is not None,
            version.number,
            self.state.changed_since_freeze,
            person.excluded_at,
            person.excluded_reason or None,
            person.end_reason or None,
            self.state.version_frozen,
            version.digest,
            person.sequence,
        )

    def _origin(self) -> tuple[Any, ...]:
        person = self.person
        referrals = (person.referral.get(name) for name in REFERRALS)
        return person.source, self.label, *referrals, person.entered_at, person.active_at

    def _checks(self) -> tuple[Any, ...]:
        left = self.left
        return left.attempts, left.passed, left.attention, left.attention_failed

    def _otree(self) -> tuple[Any, ...]:
        person, referral = self.person, self.person.referral
        mturk = person.source == Study.Recruitment.MTURK
        return (
            person.code,
            person.number,
            self.label,
            person.synthetic,
            self.left.page,
            person.entered_at,
            self.label if mturk else None,
            referral.get("assignmentId"),
            self.study.slug,
            self.study.title,
            referral.get("hitId"),
            person.preview,
        )

    def _sample(self) -> tuple[Any, ...]:
        person = self.person
        told = describe_effects(person.known_effects) or None
        return self.state.before_freeze(person.entered_at), self.left_out, person.language, told


def participant_design_columns(study: Study) -> tuple[WideColumn, ...]:
    """Return the columns that follow from the study's design."""
    return wide_columns(study, [column.name for column in COLUMNS])


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
    for chunk in in_chunks(participants, PEOPLE):
        left = participant_data(chunk, versions, figures, keys=keys, of_play=of_play)
        there = not_withdrawn(left)
        cells = list[tuple[Any, ...]]()
        for person in chunk:
            if person.pk in there:
                person.version = versions[person.version_id]
                theirs = left[person.pk]
                row = _Row(study, person, theirs, states[person.version_id], out.get(person.pk))
                cells.append((*row.cells(), *map(theirs.values.get, slots)))
        yield RowGroup((), cells)


TABLE = ExportTable(
    "participants",
    "Everybody who entered and did not withdraw, wide: with every answer and score.",
    COLUMNS,
    rows,
    participant_design_columns,
)
