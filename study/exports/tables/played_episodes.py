"""Read a study's played episodes with their participants, for all export tables about episodes.

The episodes are read in pieces, to limit the use of memory. The module also finds versions of the design that
differ from the preregistration. It counts the data that outages of the app affected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, Q, Subquery

from kitchen.infra.database_writes import batches_of
from kitchen.play.models import Episode, Seat, Step
from kitchen.uptime.outage_queries import NO_EFFECT, Downtime, OutageEffect
from kitchen.words.english_text import counted_noun
from study.design.models import Study
from study.design.study_versions import freeze_states
from study.exports.export_table import EVERYBODY, ExportSelection
from study.exports.row_groups import RowGroup
from study.participants.episode_owners_and_outages import downtime_since_creation, outage_overlap
from study.participants.models import Participant, Round


def changed_versions(study: Study) -> set[int]:
    """Return the numbers of the study's versions that were made after a preregistration and differ from
    it."""
    return {one.version for one in freeze_states(study).values() if one.changed_since_freeze}


PEOPLE = 200
"""Number of participants that are read at once."""
STEPS = 5000
"""Number of steps of the episodes that are read at once; one long episode may have more."""

PRACTICE, WARM_UP, MAIN = "practice", "waiting", "main"


Touched = Mapping[int, Mapping[int, OutageEffect]]
"""Effects of outages by episode and step; unaffected steps are missing."""


class Marks(NamedTuple):
    """The marks of a participant that rows end with: preview, excluded, version, and whether the version
    changed (`PERSON_MARKS`)."""

    preview: bool
    excluded: bool
    version: int
    changed: bool


class ExportedParticipant(NamedTuple):
    """One participant, with the values that the export files need."""

    pk: int
    code: str
    synthetic: bool
    number: int
    sequence: int | None
    practised: tuple[int, ...]
    """The practice episodes: one, or two if practice was repeated."""
    warm_up: int | None
    warm_up_seat: int
    """The episode that the participant played while waiting for others, if any."""
    marks: Marks
    group: int | None = None
    """Number of the participant's group, if any."""
    between_group: str = ""
    """Key of the group between people, if any."""

    @property
    def cells(self) -> tuple[str, bool]:
        """Return the participant's values of the columns with which every table begins
        (`PARTICIPANT_COLUMNS`)."""
        return self.code, self.synthetic


@dataclass(slots=True)
class PlayedEpisode:
    """One episode as played by one of its participants."""

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
    """Effect of outages on the episode."""

    @property
    def where(self) -> tuple[Any, ...]:
        """Return the first cells of each row about this episode (`EPISODE_COLUMNS`)."""
        return self.who.code, self.who.synthetic, self.condition, self.position, self.key

    @property
    def marks(self) -> tuple[Any, ...]:
        """Return the values of the columns `EPISODE_MARKS`. They describe the episode and are repeated in
        each of its rows."""
        return self.part, *self.who.marks

    def row_groups(
        self, rows: Sequence[Sequence[Any]], touched: Touched, chosen: ExportSelection, later: int = 0
    ) -> Iterator[RowGroup]:
        """Yield the rows of this episode in groups. Each group has the cells that its rows share. The first
        cell of each row is the step's number, by which rows are sorted.

        The cells of `EPISODE_COLUMNS` come first in each row. Those of `EPISODE_MARKS` and `OUTAGE_MARKS`
        come before the last `later` cells. Rows of steps that an outage affected are left out if `chosen`
        says so.
        """
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
    """Yield the selected participants, ordered by number."""
    changed = changed_versions(study)
    participants = chosen.participants(study).values_list(
        "pk",
        "code",
        "synthetic",
        "number",
        "sequence",
        "first_practice_id",
        "practice_id",
        "warm_up_id",
        "warm_up_seat",
        "preview",
        "excluded_at",
        "version__number",
        "membership__group__number",
        "between_group",
    )
    for row in participants.iterator(chunk_size=2000):
        warm_up, seat, preview, excluded, version, group, between = row[7:]
        practised = tuple(each for each in row[5:7] if each)
        marks = Marks(preview, excluded is not None, version, version in changed)
        yield ExportedParticipant(*row[:5], practised, warm_up, seat, marks, group, between)


def participant_chunks(study: Study, chosen: ExportSelection) -> Iterator[dict[int, ExportedParticipant]]:
    """Yield the selected participants in dicts of up to `PEOPLE`, by primary key, ordered by number."""
    for chunk in batches_of(exported_participants(study, chosen), PEOPLE):
        yield {who.pk: who for who in chunk}


def played_episodes(
    study: Study, chosen: ExportSelection, downtime: Downtime | None = None
) -> Iterator[PlayedEpisode]:
    """Yield every started episode once for each of its participants, ordered by participant. Practice comes
    before the other episodes, which are in the order of play.

    `downtime` are the study's outages, if the caller has read them already.
    """
    downtime = downtime_since_creation(study) if downtime is None else downtime
    for played, began, ended in _all_played(study, chosen):
        played.touch = outage_overlap(downtime, began, ended)
        if chosen.outage_episodes or not played.touch:
            yield played


def _all_played(
    study: Study, chosen: ExportSelection
) -> Iterator[tuple[PlayedEpisode, datetime, datetime | None]]:
    """Yield the selected participants' episodes, each with its start and end time."""
    for people in participant_chunks(study, chosen):
        rounds = _rounds(people)
        practised = _practised(
            [each for who in people.values() for each in (*who.practised, who.warm_up) if each]
        )
        for who in people.values():
            for *fields, began, ended in (practised[each] for each in who.practised if each in practised):
                yield PlayedEpisode(who, PRACTICE, None, "", 0, *fields), began, ended
            for _, *fields, began, ended in (practised[each] for each in [who.warm_up] if each in practised):
                yield PlayedEpisode(who, WARM_UP, None, "", 0, who.warm_up_seat, *fields), began, ended
            for *fields, began, ended in rounds[who.pk]:
                yield PlayedEpisode(who, MAIN, *fields), began, ended


def _rounds(pks: Iterable[int]) -> dict[int, list[tuple[Any, ...]]]:
    """Return the episodes of these participants' rounds, as participant id → list of tuples. A tuple has the
    fields of `PlayedEpisode` from `condition` to `world`, and the start and end time."""
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
    """Return data about these practice episodes, by episode id. A tuple has the fields of `PlayedEpisode`
    from `seat` to `world`, and the start and end time."""
    people = Seat.objects.filter(episode=OuterRef("pk"), mind=None).order_by("number").values("number")[:1]
    episodes = Episode.objects.filter(pk__in=pks).annotate(own=Subquery(people))
    rows = episodes.values_list("own", "pk", "key", "step", "world", "created_at", "ended_at")
    return {pk: (seat or 0, pk, str(key), *rest) for seat, pk, key, *rest in rows}


def episodes_once(
    study: Study, chosen: ExportSelection, downtime: Downtime | None = None
) -> Iterator[PlayedEpisode]:
    """Yield each episode of `played_episodes` once. An episode of several participants is listed with the
    first selected one."""
    shared, seen = shared_episodes(study), set[int]()
    for played in played_episodes(study, chosen, downtime):
        if played.episode not in seen:
            yield played
        if played.episode in shared:
            seen.add(played.episode)


def touched_steps(piece: Iterable[PlayedEpisode], downtime: Downtime) -> Touched:
    """Return how outages affected the steps of these episodes, by episode and step. Steps that were not
    affected are missing."""
    touched: dict[int, dict[int, OutageEffect]] = defaultdict(dict)
    pks = [played.episode for played in piece if played.touch]
    steps = Step.objects.filter(episode__in=pks).order_by() if pks else Step.objects.none()
    for pk, number, opened, taken in steps.values_list("episode_id", "number", "opened_at", "taken_at"):
        if touch := downtime.touch(opened, taken):
            touched[pk][number] = touch
    return touched


def shared_episodes(study: Study) -> set[int]:
    """Return the ids of the study's episodes with several participants."""
    twice = Round.objects.filter(
        Q(episode__rounds__pk__gt=F("pk")), participant__study=study, episode__isnull=False
    )
    together = Participant.objects.filter(study=study, warm_up__warmed_up_by__pk__gt=F("pk"))
    waiting = together.order_by().values_list("warm_up_id", flat=True)
    return set(twice.order_by().values_list("episode_id", flat=True).union(waiting))


def not_withdrawn(pks: Iterable[int]) -> set[int]:
    """Return the primary keys among `pks` whose participants have not withdrawn.

    Call this after reading all other data. A withdrawal erases the data at once, so the data of these
    participants were read completely.
    """
    return set(Participant.objects.filter(pk__in=pks).order_by().values_list("pk", flat=True))


def in_pieces(whole: Iterator[PlayedEpisode], steps: int | None = None) -> Iterator[list[PlayedEpisode]]:
    """Yield the episodes in lists. The episodes of one list have about `steps` steps together (default
    `STEPS`)."""
    most = steps or STEPS
    piece: list[PlayedEpisode] = []
    held = 0
    for played in whole:
        piece.append(played)
        held += played.steps + 1
        if held >= most:
            yield piece
            piece, held = [], 0
    if piece:
        yield piece


def played_by_not_withdrawn(piece: Iterable[PlayedEpisode]) -> Iterator[PlayedEpisode]:
    """Return the episodes of participants who have not withdrawn. Call this after reading all other data."""
    episodes = list(piece)
    there = not_withdrawn({played.who.pk for played in episodes})
    return (played for played in episodes if played.who.pk in there)


@dataclass(frozen=True, slots=True)
class TouchedCount:
    """The number of episodes that outages affected, the number of all steps in these episodes, and the
    number of affected steps."""

    episodes: int = 0
    episodes_steps: int = 0
    steps: int = 0

    def left_out(self, chosen: ExportSelection) -> str:
        """Return a text about the episodes or steps that `chosen` leaves out because of outages. Return an
        empty string if none are left out."""
        episodes = counted_noun(self.episodes, "episode")
        if not chosen.outage_episodes:
            steps = counted_noun(self.episodes_steps, "step")
            return f"{episodes} that an outage touched, with {steps}"
        if not chosen.outage_steps:
            return f"{counted_noun(self.steps, 'step')} that an outage touched, in {episodes}"
        return ""


def touched_count(study: Study, chosen: ExportSelection = EVERYBODY) -> TouchedCount:
    """Return the number of episodes and steps that outages affected, for the selected participants. An
    episode of several participants is counted once."""
    downtime = downtime_since_creation(study)
    if not downtime:
        return TouchedCount()
    everything = replace(chosen, outage_steps=True, outage_episodes=True)
    episodes = held = steps = 0
    for piece in in_pieces(episodes_once(study, everything, downtime)):
        hit = [played for played in piece if played.touch]
        episodes, held = episodes + len(hit), held + sum(played.steps for played in hit)
        steps += sum(map(len, touched_steps(hit, downtime).values()))
    return TouchedCount(episodes, held, steps)
