"""Making many synthetic participants, in pieces: first what they played, then they themselves.

Nobody who plays waits for long (`kitchen.machine.pieces`). What is stopped in the middle leaves whole
participants, and perhaps episodes without one, which `erase_synthetic` erases.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Json
from kitchen.play import sealing
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.models import Study, SurveyItem, Version
from study.design.orders.base import OrderSequence
from study.design.orders.issuing import Tally, issue
from study.design.page_order import AFTER, ASKING, BEFORE, WELCOME, is_shown
from study.design.plan import people_in
from study.design.questions.fields import ItemPlan
from study.design.version_writing import version_current
from study.people.held import scheme_of, tallies
from study.people.leaving import code_to_give, outcome_codes
from study.people.models import Answer, PageVisit, Participant, Round
from study.people.news import audience_of
from study.taking_part.entering import consent_digest
from study.trying_out.synthetic.copying import Copy, copy_erase, make_copies, write_prompts
from study.trying_out.synthetic.people import answer_of, way_of, wrong_answer
from study.trying_out.synthetic.recordings import Recording, record
from study.trying_out.walk.person import Experience, Person

PIECE = 5
"""Participants of one transaction."""
PRACTICE = "practice"
NO_ORDER = OrderSequence(0, ())
"""Of those who never agreed."""


@dataclass(frozen=True, slots=True)
class SyntheticRequest:
    """How many, who they are, and how their episodes are."""

    participants: int
    seed: int
    steps: int | None = None
    """Steps of an episode; None: as in the study."""
    recordings: int = 2
    """Episodes that are really played for each condition."""


@dataclass(slots=True)
class Draft:
    """One participant in the making."""

    person: Person
    row: Participant
    way: str
    order: tuple[str, ...]
    now: datetime
    visits: list[PageVisit] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    copies: dict[str, Copy] = field(default_factory=dict)
    """By condition; the practice episode as `practice`."""


def make(study: Study, wish: SyntheticRequest, say: Callable[[str], object]) -> int:
    """Write them all; how many."""
    version = version_current(study_id=study.pk)
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
    return record(plan, seed=seed, number=number, thinking=thinking, look=look, steps=wish.steps)


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
        self.scheme = scheme_of(self.design)
        self.tallies = tallies(study, self.scheme, synthetic=True, preview=False)
        self.codes = outcome_codes(study.pk)
        self.consent = consent_digest(version) if self.design.has("consent") else ""

    def pieces(self) -> Iterator[int]:
        """Write piece by piece; how many there are so far."""
        for begin in range(0, self.wish.participants, PIECE):
            end = min(begin + PIECE, self.wish.participants)
            self._piece(range(begin + 1, end + 1))
            yield end

    def _piece(self, numbers: Sequence[int]) -> None:
        """Write these; again from the start where somebody enters meanwhile, who has their number."""
        while True:
            study, held = Study.objects.get(pk=self.study.pk), dict(self.tallies)
            drafts = [self._draft(number, study.entered + at) for at, number in enumerate(numbers, start=1)]
            for draft in drafts:
                self._walk(draft)
            copies = [copy for draft in drafts for copy in draft.copies.values()]
            make_copies(copies, audience=audience_of(study), budget_id=study.budget_id)
            played = sealing.drafts_of([copy.episode.pk for copy in copies if copy.episode])
            if self._enter(study.entered, drafts, played):
                return
            self.tallies = held
            for copy in copies:
                copy_erase(copy)

    @transaction.atomic
    def _enter(self, entered: int, drafts: Sequence[Draft], played: Sequence[sealing.Facts]) -> bool:
        """Write the participants, if so many have entered before them and no more; what they played is sealed
        as theirs."""
        study = Study.objects.select_for_update().get(pk=self.study.pk)
        if study.entered != entered:
            return False
        study.entered += len(drafts)
        study.save(update_fields=["entered"])
        self._write(drafts)
        sealing.seals_write(played)
        return True

    def _draft(self, number: int, entered: int) -> Draft:
        person = Person(self.wish.seed, number)
        began = timezone.now() - timedelta(minutes=person.chance("entered").uniform(60, 60 * 24 * 14))
        way = way_of(person, self.design)
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
        return Draft(person, row, way, order.order, began)

    def _order(self, number: int, way: str) -> OrderSequence:
        """The order of the next one, which is held by those who finish or still play."""
        name, keys, seed = self.scheme
        order = issue(name, keys, self.tallies, seed=seed, number=number)
        held = self.tallies.get(order.id, Tally())
        self.tallies[order.id] = Tally(held.finished + (way == "complete"), held.playing + (way == "active"))
        return order

    def _walk(self, draft: Draft) -> None:
        """The pages of one participant, to the end or to where this one stops."""
        self._plan_rounds(draft)
        stop = self._stop(draft)
        self._visit(draft, WELCOME, 0, draft.person.chance(WELCOME).uniform(5, 40))
        draft.row.entered_at = draft.now
        for page in BEFORE:
            if is_shown(self.design, page) and not self._before(draft, page):
                break
        else:
            if self._all_rounds(draft, stop) and draft.way == "complete":
                for page in AFTER:
                    if is_shown(self.design, page):
                        self._after(draft, page)
        draft.row.active_at = draft.now
        if draft.way != "active":
            draft.row.ended_at = draft.now
            draft.row.given_code = code_to_give(draft.row, self.codes)

    def _plan_rounds(self, draft: Draft) -> None:
        """Planned on agreeing, however far somebody comes."""
        for position, key in enumerate(draft.order, start=1):
            seat = people_in(self.design.condition(key))[0]
            one = Round(participant=draft.row, condition=self.conditions[key], position=position, seat=seat)
            draft.rounds.append(one)

    def _stop(self, draft: Draft) -> int:
        """Rounds that are played."""
        if draft.way in {"complete", "no_consent", "failed_check"}:
            return len(draft.order)
        return draft.person.chance("stop").randrange(len(draft.order))

    def _before(self, draft: Draft, page: str) -> bool:
        """One page before the rounds; False if it is the last."""
        if page == PRACTICE:
            self._play(draft, PRACTICE, page, 0)
        elif page == "check":
            self._check(draft)
        else:
            self._visit(draft, page, 0, draft.person.chance(page).uniform(8, 60))
            if page in ASKING:
                self._ask(draft, self.design.items_at(page), Experience(), None)
        if page == "consent" and draft.way != "no_consent":
            draft.row.consented_at, draft.row.consent_hash = draft.now, self.consent
        return not (page == "consent" and draft.way == "no_consent") and not (
            page == "check" and draft.way == "failed_check"
        )

    def _check(self, draft: Draft) -> None:
        self._visit(draft, "check", 0, draft.person.chance("check").uniform(20, 90))
        attempts = int(self.design.part("check").settings["attempts"]) if draft.way == "failed_check" else 1
        for attempt in range(1, attempts + 1):
            for item in self.design.items_at("check"):
                value = wrong_answer(item) if draft.way == "failed_check" else item.correct
                self._answer(draft, item.key, value, None, attempt)

    def _all_rounds(self, draft: Draft, stop: int) -> bool:
        for one in draft.rounds[:stop]:
            key = one.condition.key
            experience = self._play(draft, key, "play", one.position)
            self._visit(draft, "survey", one.position, draft.person.chance("survey", key).uniform(25, 120))
            self._ask(draft, self.design.items_after(key), experience, one)
            one.answered_at = draft.now
        return stop == len(draft.order)

    def _after(self, draft: Draft, page: str) -> None:
        self._visit(draft, page, 0, draft.person.chance(page).uniform(10, 90))
        if page in ASKING:
            self._ask(draft, self.design.items_at(page), Experience(), None)

    def _play(self, draft: Draft, key: str, page: str, position: int) -> Experience:
        rng = draft.person.chance("episode", key)
        recording = rng.choice(self.recordings[key])
        copy = Copy(recording, draft.now, 3 * draft.person.temper.pace, rng)
        draft.copies[key] = copy
        seconds = 3.2 * draft.person.temper.pace * max(len(recording.steps), 1)
        self._visit(draft, page, position, seconds)
        return recording.experience

    def _visit(self, draft: Draft, page: str, position: int, seconds: float) -> None:
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

    def _ask(self, draft: Draft, items: list[ItemPlan], experience: Experience, one: Round | None) -> None:
        episode = one.position if one else 0
        for item in items:
            value = answer_of(draft.person, item, experience, episode=episode, teams=list(draft.order))
            if value is not None:
                self._answer(draft, item.key, value, one, 1)

    def _answer(self, draft: Draft, key: str, value: Json, one: Round | None, attempt: int) -> None:
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

    def _write(self, drafts: Sequence[Draft]) -> None:
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
