"""Write many synthetic participants directly into the database, and erase synthetic participants.

Episodes are written first, then participants, in batches (`kitchen.infra.database_writes`), so that running
episodes do not wait for long. An interrupted run leaves whole participants, and perhaps episodes without one,
which `erase_synthetic` erases.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Json
from kitchen.play.episode import log_integrity
from kitchen.play.episode.create_episode import erase_episode
from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_plan import people_in
from study.design.counterbalancing import OrderSequence, SequenceTally, assign_order
from study.design.models import Study, SurveyItem, Version
from study.design.page_and_item_order import (
    ITEM_PAGES,
    PAGES_AFTER_ROUNDS,
    PAGES_BEFORE_ROUNDS,
    WELCOME,
    is_shown,
)
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import is_right, kind_of, must_be_answered
from study.design.study_errors import DesignError
from study.design.study_versions import current_version
from study.participants.end_participation import code_to_give, outcome_codes, participant_withdraw
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.participant_counts import sequence_tallies, version_orders
from study.participants.participant_events import live_page_group, live_page_group_name
from study.participation.enter_study import consent_digest
from study.pilot.bots.simulated_person import Experience, Person
from study.pilot.synthetic.recorded_episodes import (
    Copy,
    Recording,
    copy_erase,
    leftover_recordings,
    make_copies,
    record_episode,
    write_prompts,
)
from study.task_queue import ask_synthetic_erasure

PROGRESS_SHARES = {
    "complete": 0.86,
    "timed_out": 0.06,
    "active": 0.03,
    "no_consent": 0.02,
    "failed_check": 0.03,
}
"""Shares of the outcomes; roughly those that web studies report."""
ATTENTIVE = 0.96
"""Share of attention and comprehension checks that are answered correctly."""


def planned_status(person: Person, design: Blueprint) -> str:
    """Return how this participant ends: a status of `Participant`."""
    ways = dict(PROGRESS_SHARES)
    if not design.has("consent"):
        ways.pop("no_consent")
    if not _can_fail(design):
        ways.pop("failed_check")
    return person.chance("way").choices(list(ways), list(ways.values()))[0]


def _can_fail(design: Blueprint) -> bool:
    """Return whether failing the comprehension check can end a participation."""
    check = design.part("check")
    if not check.enabled or check.settings["on_failure"] == "continue":
        return False
    return any(wrong_answer(item) != item.correct for item in design.items_at("check"))


def wrong_answer(item: ItemPlan) -> Json:
    """Return a wrong answer; the right one if there is no other."""
    others = kind_of(item).some_answers(item)
    return next((one for one in others if is_right(item, one) is False), item.correct)


def plausible_answer(
    person: Person, item: ItemPlan, experience: Experience, *, episode: int, teams: list[str]
) -> Json:
    """Return a plausible answer; None for an optional item that is left open."""
    rng = person.chance("synthetic", episode, item.key)
    if not must_be_answered(item) and rng.random() < 0.1:
        return None
    if item.correct is not None and rng.random() < ATTENTIVE:
        return item.correct
    if item.kind == "likert":
        points = range(item.points, 0, -1) if item.reversed else range(1, item.points + 1)
        return person.answer(item.key, points, experience, episode=episode)
    return kind_of(item).any_answer(item, rng, teams)


PIECE = 5
"""Participants per transaction."""
PRACTICE = "practice"
NO_ORDER = OrderSequence(0, ())
"""Order of participants who never consented."""


@dataclass(frozen=True, slots=True)
class SyntheticRequest:
    """Number and seed of the participants, and settings of their episodes."""

    participants: int
    seed: int
    steps: int | None = None
    """Steps of an episode; None: as in the study."""
    recordings: int = 2
    """Episodes that are really played for each condition."""


@dataclass(slots=True)
class ParticipantDraft:
    """One participant before being written."""

    person: Person
    row: Participant
    way: str
    order: tuple[str, ...]
    now: datetime
    visits: list[PageVisit] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    copies: dict[str, Copy] = field(default_factory=dict)
    """Copies of episodes by condition; the practice episode under `practice`."""


def make_participants(study: Study, wish: SyntheticRequest, say: Callable[[str], object]) -> int:
    """Write all participants; return their number."""
    version = current_version(study_id=study.pk)
    recordings = _recordings(version.blueprint, wish)
    played = sum(map(len, recordings.values()))
    say(f"{played} episodes really played; everybody's are copies of these")
    write_prompts([one for each in recordings.values() for one in each])
    maker = _Maker(study, version, recordings, wish)
    for made in maker.pieces():
        say(f"{made} of {wish.participants} synthetic participants")
    return wish.participants


def _recordings(design: Blueprint, wish: SyntheticRequest) -> dict[str, list[Recording]]:
    plans = {plan.key: plan for plan in design.conditions}
    if design.has("practice"):
        plans[PRACTICE] = design.practice
    return {
        key: [_recorded(plan, key, number, design, wish) for number in range(1, wish.recordings + 1)]
        for key, plan in plans.items()
    }


def _recorded(
    plan: ConditionPlan, key: str, number: int, design: Blueprint, wish: SyntheticRequest
) -> Recording:
    seed = derived_seed(wish.seed, "recording", key, number)
    waits = plan.thinking_seconds
    thinking = float(design.study["thinking_seconds"]) if waits is None else waits
    look = {
        "shown": design.shown_in(plan),
        "asks_first": bool(design.meant("asks_first")),
        "three_dimensions": plan.three_dimensions,
        "shows_intents": plan.shows_intents,
    }
    return record_episode(plan, seed=seed, number=number, thinking=thinking, look=look, steps=wish.steps)


class _Maker:
    def __init__(
        self, study: Study, version: Version, recordings: dict[str, list[Recording]], wish: SyntheticRequest
    ) -> None:
        self.study = study
        self.version = version
        self.design = version.blueprint
        self.recordings = recordings
        self.wish = wish
        self.items: dict[str, SurveyItem] = {item.key: item for item in study.items.all()}
        self.conditions = {row.key: row for row in study.conditions.all()}
        self.scheme = version_orders(self.design)
        self.tallies = sequence_tallies(study, self.scheme, synthetic=True, preview=False)
        self.codes = outcome_codes(study.pk)
        self.consent = consent_digest(version) if self.design.has("consent") else ""

    def pieces(self) -> Iterator[int]:
        """Write batch by batch; yield the number written so far."""
        for begin in range(0, self.wish.participants, PIECE):
            end = min(begin + PIECE, self.wish.participants)
            self._piece(range(begin + 1, end + 1))
            yield end

    def _piece(self, numbers: Sequence[int]) -> None:
        """Write these participants. Start again if another participant entered meanwhile and took a
        number."""
        while True:
            study, held = Study.objects.get(pk=self.study.pk), dict(self.tallies)
            drafts = [self._draft(number, study.entered + at) for at, number in enumerate(numbers, start=1)]
            for draft in drafts:
                self._walk(draft)
            copies = [copy for draft in drafts for copy in draft.copies.values()]
            make_copies(copies, audience=live_page_group(study), budget_id=study.budget_id)
            played = log_integrity.seal_drafts([copy.episode.pk for copy in copies if copy.episode])
            if self._enter(study.entered, drafts, played):
                return
            self.tallies = held
            for copy in copies:
                copy_erase(copy)

    @transaction.atomic
    def _enter(
        self, entered: int, drafts: Sequence[ParticipantDraft], played: Sequence[log_integrity.SealedFacts]
    ) -> bool:
        """Write the participants and seal what they played, if exactly `entered` participants entered before
        them.

        Return False, without a change, otherwise.
        """
        study = Study.objects.select_for_update().get(pk=self.study.pk)
        if study.entered != entered:
            return False
        study.entered += len(drafts)
        study.save(update_fields=["entered"])
        self._write(drafts)
        log_integrity.write_seals(played)
        return True

    def _draft(self, number: int, entered: int) -> ParticipantDraft:
        person = Person(self.wish.seed, number)
        began = timezone.now() - timedelta(minutes=person.chance("entered").uniform(60, 60 * 24 * 14))
        way = planned_status(person, self.design)
        order = self._order(entered, way) if way != "no_consent" else NO_ORDER
        row = Participant(
            study=self.study,
            version=self.version,
            number=entered,
            code=secrets.token_hex(4),
            entry=secrets.token_urlsafe(16),
            synthetic=True,
            status=way,
            sequence=order.id or None,
            entered_at=began,
            active_at=began,
        )
        return ParticipantDraft(person, row, way, order.order, began)

    def _order(self, number: int, way: str) -> OrderSequence:
        """Assign the next order. Participants who finish or still play hold a sequence."""
        name, keys, seed = self.scheme
        order = assign_order(name, keys, self.tallies, seed=seed, number=number)
        held = self.tallies.get(order.id, SequenceTally())
        self.tallies[order.id] = SequenceTally(
            held.finished + (way == "complete"), held.playing + (way == "active")
        )
        return order

    def _walk(self, draft: ParticipantDraft) -> None:
        """Create the pages of one participant, to the end or to where they stop."""
        self._plan_rounds(draft)
        stop = self._stop(draft)
        self._visit(draft, WELCOME, 0, draft.person.chance(WELCOME).uniform(5, 40))
        draft.row.entered_at = draft.now
        for page in PAGES_BEFORE_ROUNDS:
            if is_shown(self.design, page) and not self._before(draft, page):
                break
        else:
            if self._all_rounds(draft, stop) and draft.way == "complete":
                for page in PAGES_AFTER_ROUNDS:
                    if is_shown(self.design, page):
                        self._after(draft, page)
        draft.row.active_at = draft.now
        if draft.way != "active":
            draft.row.ended_at = draft.now
            draft.row.given_code = code_to_give(draft.row, self.codes)

    def _plan_rounds(self, draft: ParticipantDraft) -> None:
        """Create all rounds at consent, however far the participant gets."""
        for position, key in enumerate(draft.order, start=1):
            seat = people_in(self.design.condition(key))[0]
            one = Round(participant=draft.row, condition=self.conditions[key], position=position, seat=seat)
            draft.rounds.append(one)

    def _stop(self, draft: ParticipantDraft) -> int:
        """Return the number of rounds that are played."""
        if draft.way in {"complete", "no_consent", "failed_check"}:
            return len(draft.order)
        return draft.person.chance("stop").randrange(len(draft.order))

    def _before(self, draft: ParticipantDraft, page: str) -> bool:
        """Create one page before the rounds; return False if it is the participant's last."""
        if page == PRACTICE:
            self._play(draft, PRACTICE, page, 0)
        elif page == "check":
            self._check(draft)
        else:
            self._visit(draft, page, 0, draft.person.chance(page).uniform(8, 60))
            if page in ITEM_PAGES:
                self._ask(draft, self.design.items_at(page), Experience(), None)
        if page == "consent" and draft.way != "no_consent":
            draft.row.consented_at, draft.row.consent_hash = draft.now, self.consent
        return not (page == "consent" and draft.way == "no_consent") and not (
            page == "check" and draft.way == "failed_check"
        )

    def _check(self, draft: ParticipantDraft) -> None:
        self._visit(draft, "check", 0, draft.person.chance("check").uniform(20, 90))
        attempts = int(self.design.part("check").settings["attempts"]) if draft.way == "failed_check" else 1
        for attempt in range(1, attempts + 1):
            for item in self.design.items_at("check"):
                value = wrong_answer(item) if draft.way == "failed_check" else item.correct
                self._answer(draft, item.key, value, None, attempt)

    def _all_rounds(self, draft: ParticipantDraft, stop: int) -> bool:
        for one in draft.rounds[:stop]:
            key = one.condition.key
            experience = self._play(draft, key, "play", one.position)
            self._visit(draft, "survey", one.position, draft.person.chance("survey", key).uniform(25, 120))
            self._ask(draft, self.design.items_after(key), experience, one)
            one.answered_at = draft.now
        return stop == len(draft.order)

    def _after(self, draft: ParticipantDraft, page: str) -> None:
        self._visit(draft, page, 0, draft.person.chance(page).uniform(10, 90))
        if page in ITEM_PAGES:
            self._ask(draft, self.design.items_at(page), Experience(), None)

    def _play(self, draft: ParticipantDraft, key: str, page: str, position: int) -> Experience:
        rng = draft.person.chance("episode", key)
        recording = rng.choice(self.recordings[key])
        copy = Copy(recording, draft.now, 3 * draft.person.temper.pace, rng)
        draft.copies[key] = copy
        seconds = 3.2 * draft.person.temper.pace * max(len(recording.steps), 1)
        self._visit(draft, page, position, seconds)
        return recording.experience

    def _visit(self, draft: ParticipantDraft, page: str, position: int, seconds: float) -> None:
        opened = draft.now
        draft.now += timedelta(seconds=seconds)
        loads = 1 + (draft.person.chance("loads", page, position).random() < 0.05)
        draft.visits.append(
            PageVisit(
                participant=draft.row,
                page=page,
                position=position,
                opened_at=opened,
                done_at=draft.now,
                loads=loads,
            )
        )

    def _ask(
        self, draft: ParticipantDraft, items: list[ItemPlan], experience: Experience, one: Round | None
    ) -> None:
        episode = one.position if one else 0
        for item in items:
            value = plausible_answer(draft.person, item, experience, episode=episode, teams=list(draft.order))
            if value is not None:
                self._answer(draft, item.key, value, one, 1)

    def _answer(
        self, draft: ParticipantDraft, key: str, value: Json, one: Round | None, attempt: int
    ) -> None:
        draft.answers.append(
            Answer(
                participant=draft.row,
                round=one,
                item=self.items[key],
                attempt=attempt,
                value=value,
                answered_at=draft.now,
            )
        )

    def _write(self, drafts: Sequence[ParticipantDraft]) -> None:
        for draft in drafts:
            if practised := draft.copies.get(PRACTICE):
                draft.row.practice = practised.episode
            for one in draft.rounds:
                copy = draft.copies.get(one.condition.key)
                one.episode = copy.episode if copy else None
        Participant.objects.bulk_create([draft.row for draft in drafts])
        Round.objects.bulk_create([one for draft in drafts for one in draft.rounds])
        PageVisit.objects.bulk_create([one for draft in drafts for one in draft.visits])
        Answer.objects.bulk_create([one for draft in drafts for one in draft.answers])


def request_synthetic_erasure(*, study_id: int) -> None:
    """Have a worker erase all synthetic participants. Raises DesignError if no worker can be reached."""
    if not ask_synthetic_erasure(study_id):
        raise DesignError("Nothing was erased: Redis, which hands work to the workers, does not answer.")


def synthetic_erase(*, study_id: int) -> int:
    """Erase all synthetic participants, and the count of those who withdrew. Return the number erased.

    Participants are erased one by one, like withdrawals: an interrupted run leaves whole participants.
    """
    programs = Participant.objects.filter(study=study_id, synthetic=True, preview=False)
    erased = sum(_erase(participant_id) for participant_id in list(programs.values_list("pk", flat=True)))
    erase_left_episodes(study_id=study_id)
    Study.objects.filter(pk=study_id).update(withdrawn_synthetic=0)
    return erased


def erase_left_episodes(*, study_id: int) -> int:
    """Erase, one by one, synthetic episodes without a participant, which an interrupted `make_synthetic`
    leaves.

    Return their number.
    """
    nobody = Q(rounds=None, practised_by=None, synthetic=True)
    left = Episode.objects.filter(nobody, audience=live_page_group_name(study_id)) | leftover_recordings()
    ids = list(left.values_list("pk", flat=True))
    for pk in ids:
        erase_episode(pk)
    return len(ids)


def _erase(participant_id: int) -> bool:
    """Return False if the participant was erased meanwhile."""
    try:
        participant_withdraw(participant_id=participant_id)
    except Participant.DoesNotExist:
        return False
    return True


@contextmanager
def unless_being_erased(study: Study) -> Iterator[None]:
    """Raise DesignError if synthetic participants of the study are erased while the block creates some."""
    try:
        yield
    except (IntegrityError, Episode.DoesNotExist) as error:
        rest = "those that are whole stay, erase_synthetic erases the rest"
        raise DesignError(f"programs of {study.slug} were erased meanwhile: {rest}") from error
