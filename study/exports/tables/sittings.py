"""Who played which episode: the backbone of every file about episodes, read in bounded pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import F, Q

from kitchen.play.models import Episode, Step
from kitchen.uptime.selectors import UNTOUCHED, Downtime, Touch
from study.design.models import Study
from study.exports.base import in_chunks
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.versions import changed_versions
from study.people.models import Participant, Round
from study.people.outages import downtime_of, touch_of

PEOPLE = 200
"""Participants that are read at once."""
STEPS = 5000
"""Steps of the episodes that are read at once; one long episode may have more."""

PRACTICE, MAIN = "practice", "main"


Touched = Mapping[int, Mapping[int, Touch]]
"""By episode and step: what outages did to it, where they did something."""


class Marks(NamedTuple):
    """What tells kinds of participants apart, as the columns `PERSON_MARKS` have it."""

    preview: bool
    excluded: bool
    version: int
    changed: bool


class Who(NamedTuple):
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
class Sitting:
    """One participant in one episode."""

    who: Who
    part: str
    condition: str | None
    condition_name: str
    position: int
    seat: int
    episode: int
    key: str
    steps: int
    world: str
    touch: Touch = UNTOUCHED
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
        self, rows: Sequence[Sequence[Any]], touched: Touched, chosen: Chosen, later: int = 0
    ) -> Iterator[Stretch]:
        """Rows of this episode, which begin with the number of their step and are in that order, behind
        `WHERE`; before `MARKS` and `OUTAGE`, but for the last cells of each row, so many as are `later`."""
        if not self.touch:
            yield self._ended(rows, UNTOUCHED, later)
            return
        theirs = touched.get(self.episode, {})
        for touch, some in groupby(rows, lambda row: theirs.get(row[0], UNTOUCHED)):
            if chosen.outage_steps or not touch:
                yield self._ended(list(some), touch, later)

    def _ended(self, rows: Sequence[Sequence[Any]], touch: Touch, later: int) -> Stretch:
        after = (*self.marks, *touch.cells)
        if not later:
            return Stretch(self.where, rows, after)
        return Stretch(self.where, [(*row[:-later], *after, *row[-later:]) for row in rows])


def people(study: Study, chosen: Chosen) -> Iterator[Who]:
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
        yield Who(*row[:5], practised, marks, group)


def sittings(study: Study, chosen: Chosen, downtime: Downtime | None = None) -> Iterator[Sitting]:
    """Every begun episode with each of its participants: by participant, practice first, then as played.
    `downtime` is that of the study, where it was read already."""
    downtime = downtime_of(study) if downtime is None else downtime
    for sitting, began, ended in _all_sittings(study, chosen):
        sitting.touch = touch_of(downtime, began, ended)
        if chosen.outage_episodes or not sitting.touch:
            yield sitting


def _all_sittings(study: Study, chosen: Chosen) -> Iterator[tuple[Sitting, datetime, datetime | None]]:
    """With when each episode began and ended."""
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        rounds = _rounds([who.pk for who in chunk])
        practised = _practised([each for who in chunk for each in who.practised])
        for who in chunk:
            for *fields, began, ended in (practised[each] for each in who.practised if each in practised):
                yield Sitting(who, PRACTICE, None, "", 0, 0, *fields), began, ended
            for *fields, began, ended in rounds[who.pk]:
                yield Sitting(who, MAIN, *fields), began, ended


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


def episodes_once(study: Study, chosen: Chosen, downtime: Downtime | None = None) -> Iterator[Sitting]:
    """As `sittings`, but an episode that several people share only with the first of those chosen."""
    shared, seen = shared_episodes(study), set[int]()
    for sitting in sittings(study, chosen, downtime):
        if sitting.episode not in shared:
            yield sitting
        elif sitting.episode not in seen:
            seen.add(sitting.episode)
            yield sitting


def touched_steps(piece: Iterable[Sitting], downtime: Downtime) -> Touched:
    """What outages did to the steps of these; no step is read of episodes that none touched."""
    touched: dict[int, dict[int, Touch]] = defaultdict(dict)
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


def still_there(pks: Iterable[int]) -> set[int]:
    """Which of these participants did not withdraw. Asked after all else was read, it says of whom that was
    everything: whoever withdraws is erased at once."""
    return set(Participant.objects.filter(pk__in=pks).order_by().values_list("pk", flat=True))


def in_pieces(whole: Iterator[Sitting], steps: int | None = None) -> Iterator[list[Sitting]]:
    """Lists of sittings whose episodes have about so many steps together, `STEPS` if nothing is said."""
    most = steps or STEPS
    piece: list[Sitting] = []
    held = 0
    for sitting in whole:
        piece.append(sitting)
        held += sitting.steps + 1
        if held >= most:
            yield piece
            piece, held = [], 0
    if piece:
        yield piece


def who_are_there(piece: Iterable[Sitting]) -> Iterator[Sitting]:
    """The sittings of those who did not withdraw; to be asked after all else was read, as `still_there`."""
    sittings = list(piece)
    there = still_there({sitting.who.pk for sitting in sittings})
    return (sitting for sitting in sittings if sitting.who.pk in there)
