"""Read the played episodes of a study and their participants in bounded pieces, for all tables about
episodes. It also marks design versions that changed after the preregistration, and counts what outages
touched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import F, Q

from kitchen.play.models import Episode, Step
from kitchen.uptime.outage_queries import NO_EFFECT, Downtime, OutageEffect
from kitchen.words.english_text import counted_noun
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program, program_differences
from study.design.study_versions import freeze_states
from study.exports.export_table import EVERYBODY, ExportSelection, in_chunks
from study.exports.row_groups import RowGroup
from study.participants.episode_owners_and_outages import downtime_since_creation, outage_overlap
from study.participants.models import Participant, Round


def changed_versions(study: Study) -> set[int]:
    """Numbers of the versions that came after a preregistration and are not what was preregistered."""
    return {one.version for one in freeze_states(study).values() if one.changed_since_freeze}


def design_document(study: Study) -> dict[str, Any]:
    """Every version with its document, and the present design: design.json."""
    return {
        "study": study.slug,
        "program": program(),
        "present": {"digest": blueprint_of(study).digest, "document": blueprint_of(study).to_json()},
        "versions": [
            {
                "number": one.number,
                "digest": one.digest,
                "created_at": one.created_at.isoformat(),
                "frozen_at": one.frozen_at.isoformat() if one.frozen_at else None,
                "changed_since_freeze": one.number in changed_versions(study),
                "document": one.document,
                "bundle_digest": one.bundle_digest or None,
                "bundle": one.bundle,
                "program_differences": [asdict(each) for each in program_differences(one.bundle)]
                if one.bundle
                else [],
            }
            for one in study.versions.order_by("number")
        ],
    }


PEOPLE = 200
"""Participants that are read at once."""
STEPS = 5000
"""Steps of the episodes that are read at once; one long episode may have more."""

PRACTICE, MAIN = "practice", "main"


Touched = Mapping[int, Mapping[int, OutageEffect]]
"""By episode and step: what outages did to it, where they did something."""


class Marks(NamedTuple):
    """What tells kinds of participants apart, as the columns `PERSON_MARKS` have it."""

    preview: bool
    excluded: bool
    version: int
    changed: bool


class ExportedParticipant(NamedTuple):
    """One participant, as files name them."""

    pk: int
    code: str
    synthetic: bool
    number: int
    sequence: int | None
    practised: tuple[int, ...]
    """The episodes in which they practised: one, or two where the first one came to nothing."""
    marks: Marks
    group: int | None = None
    """The number of the group with which they play, where they do."""

    @property
    def cells(self) -> tuple[str, bool]:
        """The columns `WHO`."""
        return self.code, self.synthetic


@dataclass(slots=True)
class PlayedEpisode:
    """One participant in one episode."""

    who: ExportedParticipant
    part: str
    condition: str | None
    condition_name: str
    position: int
    seat: int
    episode: int
    key: str
    steps: int
    world: str
    touch: OutageEffect = NO_EFFECT
    """What outages did to the episode."""

    @property
    def where(self) -> tuple[Any, ...]:
        """The columns `WHERE`."""
        return self.who.code, self.who.synthetic, self.condition, self.position, self.key

    @property
    def marks(self) -> tuple[Any, ...]:
        """The columns `MARKS`."""
        return self.part, *self.who.marks

    def stretches(
        self, rows: Sequence[Sequence[Any]], touched: Touched, chosen: ExportSelection, later: int = 0
    ) -> Iterator[RowGroup]:
        """Rows of this episode, which begin with the number of their step and are in that order, behind
        `WHERE`; before `MARKS` and `OUTAGE`, but for the last cells of each row, so many as are `later`."""
        if not self.touch:
            yield self._ended(rows, NO_EFFECT, later)
            return
        theirs = touched.get(self.episode, {})
        for touch, some in groupby(rows, lambda row: theirs.get(row[0], NO_EFFECT)):
            if chosen.outage_steps or not touch:
                yield self._ended(list(some), touch, later)

    def _ended(self, rows: Sequence[Sequence[Any]], touch: OutageEffect, later: int) -> RowGroup:
        after = (*self.marks, *touch.cells)
        if not later:
            return RowGroup(self.where, rows, after)
        return RowGroup(self.where, [(*row[:-later], *after, *row[-later:]) for row in rows])


def exported_participants(study: Study, chosen: ExportSelection) -> Iterator[ExportedParticipant]:
    """Everybody chosen, by number."""
    changed = changed_versions(study)
    participants = chosen.participants(study).values_list(
        "pk",
        "code",
        "synthetic",
        "number",
        "sequence",
        "first_practice_id",
        "practice_id",
        "preview",
        "excluded_at",
        "version__number",
        "membership__group__number",
    )
    for row in participants.iterator(chunk_size=2000):
        preview, excluded, version, group = row[7:]
        practised = tuple(each for each in row[5:7] if each)
        marks = Marks(preview, excluded is not None, version, version in changed)
        yield ExportedParticipant(*row[:5], practised, marks, group)


def played_episodes(
    study: Study, chosen: ExportSelection, downtime: Downtime | None = None
) -> Iterator[PlayedEpisode]:
    """Every begun episode with each of its participants: by participant, practice first, then as played.
    `downtime` is that of the study, where it was read already."""
    downtime = downtime_since_creation(study) if downtime is None else downtime
    for sitting, began, ended in _all_sittings(study, chosen):
        sitting.touch = outage_overlap(downtime, began, ended)
        if chosen.outage_episodes or not sitting.touch:
            yield sitting


def _all_sittings(
    study: Study, chosen: ExportSelection
) -> Iterator[tuple[PlayedEpisode, datetime, datetime | None]]:
    """With when each episode began and ended."""
    for chunk in in_chunks(exported_participants(study, chosen), PEOPLE):
        rounds = _rounds([who.pk for who in chunk])
        practised = _practised([each for who in chunk for each in who.practised])
        for who in chunk:
            for *fields, began, ended in (practised[each] for each in who.practised if each in practised):
                yield PlayedEpisode(who, PRACTICE, None, "", 0, 0, *fields), began, ended
            for *fields, began, ended in rounds[who.pk]:
                yield PlayedEpisode(who, MAIN, *fields), began, ended


def _rounds(pks: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
    """By participant: the fields of `Sitting` from `condition` to `world`, and its times."""
    rounds = Round.objects.filter(participant__in=pks, episode__isnull=False).order_by("position")
    rows = rounds.values_list(
        "participant_id",
        "condition__key",
        "condition__name",
        "position",
        "seat",
        "episode_id",
        "episode__key",
        "episode__step",
        "episode__world",
        "episode__created_at",
        "episode__ended_at",
    )
    by_person: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for pk, *rest, key, steps, world, began, ended in rows:
        by_person[pk].append((*rest, str(key), steps, world, began, ended))
    return by_person


def _practised(pks: Sequence[int]) -> dict[int | None, tuple[Any, ...]]:
    fields = ("pk", "key", "step", "world", "created_at", "ended_at")
    episodes = Episode.objects.filter(pk__in=pks).values_list(*fields)
    return {pk: (pk, str(key), *rest) for pk, key, *rest in episodes}


def episodes_once(
    study: Study, chosen: ExportSelection, downtime: Downtime | None = None
) -> Iterator[PlayedEpisode]:
    """As `sittings`, but an episode that several people share only with the first of those chosen."""
    shared, seen = shared_episodes(study), set[int]()
    for sitting in played_episodes(study, chosen, downtime):
        if sitting.episode not in shared:
            yield sitting
        elif sitting.episode not in seen:
            seen.add(sitting.episode)
            yield sitting


def touched_steps(piece: Iterable[PlayedEpisode], downtime: Downtime) -> Touched:
    """What outages did to the steps of these; no step is read of episodes that none touched."""
    touched: dict[int, dict[int, OutageEffect]] = defaultdict(dict)
    pks = [sitting.episode for sitting in piece if sitting.touch]
    steps = Step.objects.filter(episode__in=pks).order_by() if pks else Step.objects.none()
    for pk, number, opened, taken in steps.values_list("episode_id", "number", "opened_at", "taken_at"):
        if touch := downtime.touch(opened, taken):
            touched[pk][number] = touch
    return touched


def shared_episodes(study: Study) -> set[int]:
    """Episodes of this study in which several people play."""
    twice = Round.objects.filter(
        Q(episode__rounds__pk__gt=F("pk")), participant__study=study, episode__isnull=False
    )
    return set(twice.order_by().values_list("episode_id", flat=True))


def not_withdrawn(pks: Iterable[int]) -> set[int]:
    """Which of these participants did not withdraw. Asked after all else was read, it says of whom that was
    everything: whoever withdraws is erased at once."""
    return set(Participant.objects.filter(pk__in=pks).order_by().values_list("pk", flat=True))


def in_pieces(whole: Iterator[PlayedEpisode], steps: int | None = None) -> Iterator[list[PlayedEpisode]]:
    """Lists of sittings whose episodes have about so many steps together, `STEPS` if nothing is said."""
    most = steps or STEPS
    piece: list[PlayedEpisode] = []
    held = 0
    for sitting in whole:
        piece.append(sitting)
        held += sitting.steps + 1
        if held >= most:
            yield piece
            piece, held = [], 0
    if piece:
        yield piece


def played_by_not_withdrawn(piece: Iterable[PlayedEpisode]) -> Iterator[PlayedEpisode]:
    """The sittings of those who did not withdraw; to be asked after all else was read, as `not_withdrawn`."""
    sittings = list(piece)
    there = not_withdrawn({sitting.who.pk for sitting in sittings})
    return (sitting for sitting in sittings if sitting.who.pk in there)


@dataclass(frozen=True, slots=True)
class TouchedCount:
    """How many episodes, steps in them, and of these steps that were touched themselves."""

    episodes: int = 0
    episodes_steps: int = 0
    steps: int = 0

    def left_out(self, chosen: ExportSelection) -> str:
        """What is not in the files for it, in words; empty if nothing is."""
        if not chosen.outage_episodes:
            return f"{counted_noun(self.episodes, 'episode')} that an outage touched, {self._steps_in_them}"
        if not chosen.outage_steps:
            return f"{counted_noun(self.steps, 'step')} that an outage touched, in {self._episodes}"
        return ""

    @property
    def _steps_in_them(self) -> str:
        return f"with {counted_noun(self.episodes_steps, 'step')}"

    @property
    def _episodes(self) -> str:
        return counted_noun(self.episodes, "episode")


def touched_count(study: Study, chosen: ExportSelection = EVERYBODY) -> TouchedCount:
    """Of those who were chosen; an episode that several share counts once."""
    downtime = downtime_since_creation(study)
    if not downtime:
        return TouchedCount()
    everything = replace(chosen, outage_steps=True, outage_episodes=True)
    episodes = held = steps = 0
    for piece in in_pieces(episodes_once(study, everything, downtime)):
        hit = [sitting for sitting in piece if sitting.touch]
        episodes, held = episodes + len(hit), held + sum(sitting.steps for sitting in hit)
        steps += sum(map(len, touched_steps(hit, downtime).values()))
    return TouchedCount(episodes, held, steps)
