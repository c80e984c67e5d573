"""Write many synthetic participants directly into the database, and erase synthetic participants.

They are written in batches with short transactions, so that running episodes do not wait for long. After an
interrupted run, `erase_synthetic` erases what was written.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from kitchen.agents.human_like.play_habits import PlayHabits
from kitchen.contract.canonical_json import derived_seed
from kitchen.infra.append_only import erasure_allowed
from kitchen.play.episode import log_integrity
from kitchen.play.episode.erase_episode import erase_episode
from kitchen.play.models import Episode
from study.design.blueprint import Blueprint
from study.design.condition_seats import people_in
from study.design.counterbalancing import OrderSequence, SequenceTally
from study.design.group_allocation import AllocatedPerson, Assignment, allocate
from study.design.item_places import is_on_own_page
from study.design.models import Study, SurveyItem, Version
from study.design.page_and_item_order import ITEM_PAGES, WELCOME
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import answer_words
from study.design.round_plans import assign_sequence
from study.design.study_errors import DesignError
from study.design.study_versions import current_version
from study.participants.allocated_people import allocated_people
from study.participants.end_and_erase_participation import code_to_give, erase_participants, outcome_codes
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.participant_counts import (
    group_tallies,
    sequence_tallies,
)
from study.participants.participant_notifications import live_page_group, live_page_group_name
from study.participation.enter_study import consent_digest
from study.participation.group_assignment import needs_answers_first
from study.pilot.bots.simulated_person import Experience, Person, item_answer
from study.pilot.bots.walk_plans import OutcomeShares, PlannedOutcome, StopPage, WalkPlan, walk_plans
from study.pilot.dry_run_execution import study_script
from study.pilot.synthetic.recorded_episodes import (
    Copy,
    Recording,
    leftover_recordings,
    make_copies,
    record_episode,
    write_prompts,
)
from study.task_queue import ask_synthetic_erasure

SHARES = OutcomeShares(drop_outs=9, refusals=2, fail_checks=3)
"""Percentages of the outcomes; roughly those that web studies report."""
STILL_ACTIVE = 1 / 3
"""Share of the drop-outs whose participation has not ended yet."""
LASTING = (Participant.Status.COMPLETE, Participant.Status.ACTIVE)
"""Statuses of participants who hold their place in a group."""
SECONDS = {
    "welcome": (5, 40),
    "check": (20, 90),
    "survey": (25, 120),
    "final": (10, 90),
    "debriefing": (10, 90),
}
"""Shortest and longest time on a page."""
OTHER_SECONDS = (8, 60)
"""The range of seconds on all other pages without play."""
Tallies = dict[tuple[str, int | None], SequenceTally]
"""Counts by between-subjects group and sequence; None for the group as a whole. Without groups, the group is
empty."""
PIECE = 5
"""Participants per transaction."""
PRACTICE = "practice"
PLAYED = frozenset({"play", PRACTICE})
"""Pages on which an episode is played."""


@dataclass(frozen=True, slots=True)
class SyntheticRequest:
    """The number of synthetic participants to write, their seed, and settings of their episodes."""

    participants: int
    seed: int
    steps: int | None = None
    """Steps of an episode; None: as in the study."""
    recordings: int = 2
    """Episodes that are really played for each condition."""
    people: tuple[PlayHabits, ...] = ()
    """How people play; each recorded episode is played like one of them. Empty: with made-up errors."""


@dataclass(slots=True)
class ParticipantDraft:
    """One synthetic participant with all its rows, before they are written."""

    person: Person
    plan: WalkPlan
    row: Participant
    order: tuple[str, ...]
    now: datetime
    experience: Experience = field(default_factory=Experience)
    """The participant's experience in the latest episode."""
    visits: list[PageVisit] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    copies: dict[str, Copy] = field(default_factory=dict)
    """Copies of episodes by condition; the practice episode under `practice`."""


def make_participants(study: Study, request: SyntheticRequest, say: Callable[[str], object]) -> int:
    """Write all synthetic participants of a request into the database, and return their number.

    `say` gets lines about the progress. Raises DesignError if synthetic participants of the study are erased
    at the same time.
    """
    version = current_version(study_id=study.pk)
    recordings = _recordings(version.blueprint, request)
    played = sum(map(len, recordings.values()))
    say(f"{played} episodes really played; everybody's are copies of these")
    write_prompts([one for each in recordings.values() for one in each])
    maker = _Maker(study, version, recordings, request)
    try:
        for made in maker.pieces():
            say(f"{made} of {request.participants} synthetic participants")
    except (IntegrityError, Episode.DoesNotExist) as error:
        rest = "those that are whole stay, erase_synthetic erases the rest"
        raise DesignError(f"programs of {study.slug} were erased meanwhile: {rest}") from error
    return request.participants


def _recordings(design: Blueprint, request: SyntheticRequest) -> dict[str, list[Recording]]:
    plans = {plan.key: plan for plan in design.conditions}
    if design.has("practice"):
        plans |= {_practice_key(group): design.for_group(group).practice for group in design.groups or ("",)}
    return {
        key: [
            record_episode(
                design,
                plan,
                seed=derived_seed(request.seed, "recording", key, number),
                number=number,
                steps=request.steps,
                people=request.people,
            )
            for number in range(1, request.recordings + 1)
        ]
        for key, plan in plans.items()
    }


def _practice_key(group: str) -> str:
    """Return the key under which the practice recordings of this between-subjects group are stored."""
    return f"{PRACTICE} {group}".rstrip()


class _Maker:
    def __init__(
        self,
        study: Study,
        version: Version,
        recordings: dict[str, list[Recording]],
        request: SyntheticRequest,
    ) -> None:
        self.study = study
        self.version = version
        self.design = version.blueprint
        self.recordings = recordings
        self.request = request
        self.items: dict[str, SurveyItem] = {item.key: item for item in study.items.all()}
        self.conditions = {row.key: row for row in study.conditions.all()}
        groups, kind = self.design.groups, {"synthetic": True, "preview": False}
        self.round_plans = {group: self.design.round_plan(group) for group in groups or ("",)}
        self.tallies: Tallies = {
            (group, None): tally for group, tally in group_tallies(study, groups, **kind).items()
        }
        for group, plan in self.round_plans.items():
            held = sequence_tallies(study, plan, **kind)
            self.tallies |= {(group, number): tally for number, tally in held.items()}
        self.allocated = allocated_people(study, self.design.allocation, groups, **kind)
        self.codes = outcome_codes(study.pk)
        self.script = study_script(self.design, study.recruitment)
        shares = SHARES if self.design.has("consent") else replace(SHARES, refusals=0)
        self.plans = walk_plans(shares, self.script, participants=request.participants, seed=request.seed)

    def pieces(self) -> Iterator[int]:
        """Write all participants in batches. After each batch, yield the number of participants written so
        far."""
        for begin in range(0, self.request.participants, PIECE):
            end = min(begin + PIECE, self.request.participants)
            self._piece(range(begin + 1, end + 1))
            yield end

    def _piece(self, numbers: Sequence[int]) -> None:
        """Write the participants with these numbers. If another participant entered meanwhile, undo this and
        start again with new numbers."""
        while True:
            study, held = Study.objects.get(pk=self.study.pk), (dict(self.tallies), [*self.allocated])
            drafts = [self._draft(number, study.entered + at) for at, number in enumerate(numbers, start=1)]
            for draft in drafts:
                self._walk(draft)
            copies = [copy for draft in drafts for copy in draft.copies.values()]
            make_copies(copies, audience=live_page_group(study), budget_id=study.budget_id)
            played = log_integrity.seal_drafts([copy.episode.pk for copy in copies])
            if self._enter(study.entered, drafts, played):
                return
            self.tallies, self.allocated = held
            with erasure_allowed():
                for copy in copies:
                    copy.episode.delete()

    @transaction.atomic
    def _enter(
        self, entered: int, drafts: Sequence[ParticipantDraft], played: Sequence[log_integrity.SealedFacts]
    ) -> bool:
        """Write the participants, and seal (sign) the episodes that they played. If other participants have
        entered meanwhile (`entered` is not the number so far), return False and change nothing."""
        study = Study.objects.select_for_update().get(pk=self.study.pk)
        if study.entered != entered:
            return False
        study.entered += len(drafts)
        study.save(update_fields=["entered"])
        self._write(drafts)
        log_integrity.write_seals(played)
        return True

    def _draft(self, number: int, entered: int) -> ParticipantDraft:
        person, plan = Person(self.request.seed, number), self.plans[number - 1]
        began = timezone.now() - timedelta(minutes=person.chance("entered").uniform(60, 60 * 24 * 14))
        status = self._status(person, plan)
        assigned = self._gets_order(plan)
        found = self._group(person, plan, entered, status) if assigned else Assignment("", {})
        order = self._order(found.group, entered, status) if assigned else OrderSequence(0, ())
        row = Participant(
            study=self.study,
            version=self.version,
            number=entered,
            code=secrets.token_hex(4),
            entry=secrets.token_urlsafe(16),
            synthetic=True,
            status=status,
            sequence=order.id or None,
            between_group=found.group,
            allocation=found.reason,
            entered_at=began,
            active_at=began,
        )
        return ParticipantDraft(person, plan, row, order.order, began)

    def _status(self, person: Person, plan: WalkPlan) -> str:
        """Return the status in which a participant with this plan ends."""
        if plan.outcome == PlannedOutcome.DROP_OUT:
            is_active = person.chance("active").random() < STILL_ACTIVE
            return Participant.Status.ACTIVE if is_active else Participant.Status.TIMED_OUT
        if plan.outcome == PlannedOutcome.REFUSE:
            return Participant.Status.NO_CONSENT
        failed = plan.outcome == PlannedOutcome.FAIL and self.script.check_ends
        return Participant.Status.FAILED_CHECK if failed else Participant.Status.COMPLETE

    def _gets_order(self, plan: WalkPlan) -> bool:
        """Return True if a participant with this plan agrees to the consent page and, if the group depends on
        them, answers the questions about the person. Only then is an order of conditions assigned."""
        before = [StopPage("consent")]
        if needs_answers_first(self.design):
            before.append(StopPage(SurveyItem.Place.ABOUT))
        return plan.outcome != PlannedOutcome.REFUSE and plan.stop not in before

    def _group(self, person: Person, plan: WalkPlan, number: int, status: str) -> Assignment:
        """Assign the next between-subjects group, and return it with the reason. Without groups, the group is
        empty. The participant is counted for the next assignment if `status` is complete or active.

        Raises DesignError if the quotas leave no group open.
        """
        if not self.design.groups:
            return Assignment("", {})
        answers = self._answers_about(person, plan)
        found = allocate(
            self.design.allocation,
            self.design.groups,
            self.allocated,
            {key: tally for (key, id), tally in self.tallies.items() if id is None},
            answers=answers,
            seed=int(self.design.study["seed"]),
            number=number,
        )
        if not found.group:
            raise DesignError("The quotas leave no group open for another synthetic participant.")
        if self.design.allocation.counts_drop_outs or status in LASTING:
            self.allocated.append(AllocatedPerson(found.group, answers))
        self._count((found.group, None), status)
        return found

    def _answers_about(self, person: Person, plan: WalkPlan) -> dict[str, str]:
        """Return the answers that decide about the group. They are the ones that the participant gives later,
        because the answers follow from the person alone."""
        asked = {item.key: item for item in self.design.items_at(SurveyItem.Place.ABOUT)}
        given = {
            key: item_answer(asked[key], person, plan, Experience(), episode=0)
            for key in self.design.allocation.items
            if key in asked
        }
        return {key: answer_words(value) for key, value in given.items() if value is not None}

    def _order(self, group: str, number: int, status: str) -> OrderSequence:
        """Assign the next order of conditions in this group, and return it."""
        used = {id: tally for (key, id), tally in self.tallies.items() if key == group and id is not None}
        order = assign_sequence(self.round_plans[group], used, number=number)
        self._count((group, order.id), status)
        return order

    def _count(self, place: tuple[str, int | None], status: str) -> None:
        """Count a participant who ends in this status, for a group or one of its sequences."""
        held = self.tallies.get(place, SequenceTally())
        self.tallies[place] = SequenceTally(
            held.finished + (status == Participant.Status.COMPLETE),
            held.playing + (status == Participant.Status.ACTIVE),
        )

    def _walk(self, draft: ParticipantDraft) -> None:
        """Create the page visits of one participant, up to the page on which the participant stops.

        If that page has an episode, the participant leaves before opening it, because recordings are whole
        episodes.
        """
        draft.rounds = [
            Round(
                participant=draft.row,
                condition=self.conditions[key],
                position=position,
                seat=people_in(self.design.condition(key))[0],
            )
            for position, key in enumerate(draft.order, start=1)
        ]
        self._visit(draft, StopPage(WELCOME))
        draft.row.entered_at = draft.now
        for stop in self.script.stops:
            is_last = stop == draft.plan.stop
            if not (is_last and stop.page in PLAYED):
                self._visit(draft, stop, is_done=not is_last)
            if is_last or not self._finish(draft, stop):
                break
        draft.row.active_at = draft.now
        if draft.row.status != Participant.Status.ACTIVE:
            draft.row.ended_at = draft.now
            draft.row.given_code = code_to_give(draft.row, self.codes)

    def _finish(self, draft: ParticipantDraft, stop: StopPage) -> bool:
        """Store what the participant did on this page. Return True if the participant continues to the next
        page."""
        if stop.page == "consent":
            if draft.plan.outcome == PlannedOutcome.REFUSE:
                return False
            draft.row.consented_at, draft.row.consent_hash = draft.now, consent_digest(self.version)
        elif stop.page == "survey":
            one = draft.rounds[stop.position - 1]
            self._ask(draft, self.design.items_after(one.condition.key), one)
            one.answered_at = draft.now
        elif stop.page in ITEM_PAGES or is_on_own_page(stop.page):
            fails = stop.page == "check" and draft.plan.outcome == PlannedOutcome.FAIL
            attempts = int(self.design.part("check").settings["attempts"]) if fails else 1
            for attempt in range(1, attempts + 1):
                self._ask(draft, self.design.items_at(stop.page), None, attempt)
            return not (fails and self.script.check_ends)
        return True

    def _visit(self, draft: ParticipantDraft, stop: StopPage, *, is_done: bool = True) -> None:
        opened, page, position = draft.now, stop.page, stop.position
        draft.now += timedelta(seconds=self._seconds(draft, stop))
        loads = 1 + (draft.person.chance("loads", page, position).random() < 0.05)
        done = draft.now if is_done else None
        visit = PageVisit(
            participant=draft.row, page=page, position=position, opened_at=opened, done_at=done, loads=loads
        )
        draft.visits.append(visit)

    def _seconds(self, draft: ParticipantDraft, stop: StopPage) -> float:
        """Return the number of seconds that the participant spends on this page. For a page with an episode,
        this also makes a copy of a recorded one."""
        if stop.page not in PLAYED:
            rng = draft.person.chance(stop.page, stop.position)
            return rng.uniform(*SECONDS.get(stop.page, OTHER_SECONDS))
        key = draft.order[stop.position - 1] if stop.position else PRACTICE
        rng, pace = draft.person.chance("episode", key), draft.person.temper.pace
        played = key if stop.position else _practice_key(draft.row.between_group)
        recording = rng.choice(self.recordings[played])
        draft.copies[key] = Copy(recording, draft.now, 3 * pace, rng)
        if stop.position:
            draft.experience = recording.experience
        return 3.2 * pace * max(len(recording.steps), 1)

    def _ask(
        self, draft: ParticipantDraft, items: Sequence[ItemPlan], one: Round | None, attempt: int = 1
    ) -> None:
        episode = sum(key != PRACTICE for key in draft.copies)
        for item in items:
            value = item_answer(
                item, draft.person, draft.plan, draft.experience, episode=episode, teams=draft.order
            )
            if value is not None:
                row = Answer(participant=draft.row, round=one, item=self.items[item.key], attempt=attempt)
                row.value, row.answered_at = value, draft.now
                draft.answers.append(row)

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
    """Queue a task that erases all synthetic participants of the study. Raises DesignError if no worker
    can be reached."""
    if not ask_synthetic_erasure(study_id):
        raise DesignError("Nothing was erased: Redis, which hands work to the workers, does not answer.")


def synthetic_erase(*, study_id: int) -> int:
    """Erase all synthetic participants of the study, and reset the count of withdrawn ones. Return the number
    erased.

    They are erased one by one. So an interrupted run leaves only complete participants.
    """
    programs = Participant.objects.filter(study=study_id, synthetic=True, preview=False)
    erased = erase_participants(list(programs.values_list("pk", flat=True)))
    erase_left_episodes(study_id=study_id)
    Study.objects.filter(pk=study_id).update(withdrawn_synthetic=0)
    return erased


def erase_left_episodes(*, study_id: int) -> int:
    """Erase the synthetic episodes that have no participant, and return their number.

    An interrupted `make_synthetic` leaves such episodes. They are erased one by one.
    """
    nobody = Q(rounds=None, practised_by=None, synthetic=True)
    left = Episode.objects.filter(nobody, audience=live_page_group_name(study_id)) | leftover_recordings()
    ids = list(left.values_list("pk", flat=True))
    for pk in ids:
        erase_episode(pk)
    return len(ids)
