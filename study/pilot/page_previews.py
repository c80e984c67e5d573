"""Show staff any page of a study at once: a program fills in everything that comes before the page.

A preview participant is placed on the page. The program plays the rounds before it for a few steps, with
imitations in place of paid language models, and answers the questions before it. Each of these previews
replaces the user's previous one. Only the test of the microphone, which has a preview of its own, leads to
rounds that record sound.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.text import capfirst

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Json, World
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.play.turn.play_task_queue import ask_coplayers, playing_offline
from kitchen.play.turn.step_timer import schedule_turn_close
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint, ConditionPlan, PartPlan, blueprint_of, solo_condition
from study.design.condition_seats import people_in, seats_of
from study.design.models import Condition, Outcome
from study.design.own_pages import (
    AFTER_ROUND,
    Comparison,
    OwnPagePlan,
    compared_names,
    holds,
    known_names,
    place_words,
    rule_words,
    screen_out_reason,
)
from study.design.page_and_item_order import (
    READY,
    is_shown,
    own_page,
    page_title,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.design.part_rules import survey_rule
from study.design.parts_other_than_rounds import PARTS
from study.design.questions.item_fields import ItemPlan
from study.design.session_breaks import break_words
from study.participants.end_and_erase_participation import finish_participant, participant_withdraw
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.participant_notifications import live_page_group
from study.participation.enter_study import consent_digest, participant_enter
from study.participation.pages.microphone_page import MICROPHONE
from study.participation.round_planning import create_practice_episode, episode_settings, goal_and_probes
from study.participation.sound_uploads import microphone_set
from study.pilot.bots.simulated_person import Experience, Person, Player, item_answer
from study.pilot.bots.walk_plans import WalkPlan
from study.pilot.previews import forget_plan
from study.pilot.synthetic.recorded_episodes import (
    NO_CLOCKS,
    play_offline,
    shortened_settings,
    without_paid_model,
)

MIDDLE = "play-middle"
"""The key of the preview of a round in which some steps were played."""
END = "end-"
"""The key of the preview of an end begins so. The kind of the end follows."""
SHORT_STEPS = 2
"""Steps of a round that comes before the page."""
MIDDLE_STEPS = 10
"""Steps that were played in the preview of a round in its middle, at most half of the round. A probe ends
them."""
MOST_STEPS_TO_PROBE = 40
"""Most steps that are played to reach the first probe in that preview."""
ENDS_ELSEWHERE = frozenset({Outcome.Kind.SCREENED_OUT})
"""Ends that have no row of their own: each page at which the study ends has one."""


class PagePreview(NamedTuple):
    """A page that can be previewed: its key, its heading, and a remark such as its rule."""

    key: str
    words: str
    note: str = ""
    leaves: bool = False
    """True for a page of the researchers at which the study ends."""

    @property
    def is_end(self) -> bool:
        """Return whether it is the last page, after one kind of end."""
        return self.key.startswith(END)


def page_previews(design: Blueprint, condition: ConditionPlan) -> list[PagePreview]:
    """Return all pages of a design in their order, with the rounds in one condition."""
    return list(_pages(design.for_group(condition.between_group), condition))


def _pages(design: Blueprint, condition: ConditionPlan) -> Iterator[PagePreview]:
    yield from _titled(design, pages_before_rounds(design))
    if design.meant("think_aloud"):
        yield PagePreview(MICROPHONE, "Test of the microphone", "the round after it records your voice")
    if condition.ready_card:
        yield PagePreview(READY, "Card before the round")
    yield PagePreview("play", "Round as it begins")
    if not _is_real_time(condition):
        note = "a program has played some steps" + (", up to the first probe" if condition.probes else "")
        yield PagePreview(MIDDLE, "Round in the middle", note)
    if design.items_after(condition.key):
        survey = survey_rule(design)
        names = compared_names(design, AFTER_ROUND)
        yield PagePreview(
            "survey", "Questions after the round", f"only if {rule_words(survey, names)}" if survey else ""
        )
    for number in range(2, design.rounds + 1):
        yield from _titled(design, pages_before_round(design, number))
    yield from _titled(design, pages_after_rounds(design))
    for kind, words in Outcome.Kind.choices:
        if kind not in ENDS_ELSEWHERE:
            yield PagePreview(f"{END}{kind}", str(capfirst(words)))


def _titled(design: Blueprint, pages: Sequence[str]) -> Iterator[PagePreview]:
    for page in (one for one in pages if is_shown(design, one)):
        own = own_page(design, page)
        words = page_title(design, page) or str(capfirst(PARTS[page].words))
        yield PagePreview(page, words, _note(design, own or design.part(page)), bool(own and own.ends))


def _note(design: Blueprint, page: OwnPagePlan | PartPlan) -> str:
    rule = (
        f"only if {words}" if (words := rule_words(page, known_names(design, page.before, page.page))) else ""
    )
    if isinstance(page, PartPlan):
        return rule
    places = {kind.name: kind.words for kind in PARTS.values()}
    note = f"own page, {place_words(page.before, places)}"
    end = "the study ends here" if page.ends else ""
    return ", ".join(filter(None, (note, rule, break_words(page), end)))


def _is_real_time(condition: ConditionPlan) -> bool:
    return bool(_game(condition).tick_ms)


def _game(condition: ConditionPlan) -> World:
    return get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)


def page_preview(*, condition: Condition, page: str, language: str, user_id: int) -> Participant:
    """Create and return a preview participant who is on this page: the key of one of `page_previews`. The
    rounds are in this condition first. The user's previous preview of a page is erased.

    Raises KeyError if the study has no such page, and the errors of `study_preview`.
    """
    present = blueprint_of(condition.study)
    if page not in {one.key for one in page_previews(present, present.condition(condition.key))}:
        raise KeyError(page)
    prefix = f"page-{user_id}-"
    for former in Participant.objects.filter(
        study=condition.study_id, preview=True, entry__startswith=prefix
    ):
        participant_withdraw(participant_id=former.pk)
    with transaction.atomic():
        entry = f"{prefix}{secrets.token_hex(8)}"
        person = participant_enter(study_id=condition.study_id, entry=entry, preview=True, language=language)
        forget_plan(person, condition)
    design = person.version.blueprint
    plan = design.condition(condition.key)
    _Placement(person, design.for_group(condition.between_group), plan).place(page)
    return Participant.objects.get(pk=person.pk)


def _middle(plan: ConditionPlan) -> int:
    """Return the number of steps to play for the middle of a round: enough for the first probe at a fixed
    step, if it is not far."""
    length = _game(plan).length or MOST_STEPS_TO_PROBE
    due = [one.get("step") or one.get("every_steps") or 0 for one in plan.probes]
    near = [step for step in due if 0 < step < min(length, MOST_STEPS_TO_PROBE + 1)]
    return max(min(MIDDLE_STEPS, length // 2), min(near, default=0))


class _Placement:
    """Places one preview participant on a page."""

    def __init__(self, person: Participant, design: Blueprint, plan: ConditionPlan) -> None:
        self.person, self.design = person, design
        self.rows = {row.key: row for row in person.study.conditions.all()}
        others = [one.key for one in design.conditions if one.key != plan.key]
        self.order = [plan.key, *others][: design.rounds]
        self.program = Person(seed=1, number=1)
        self.experience = Experience()
        self.rules: Sequence[Comparison] = ()
        """The comparisons of the previewed page, if it has a rule."""

    def place(self, page: str) -> None:
        """Fill in all that comes before the page."""
        own = own_page(self.design, page)
        self.rules = (own or self.design.part(page)).show_if.rules
        before, after = pages_before_rounds(self.design), pages_after_rounds(self.design)
        rounds = self._rounds()
        if page in before:
            self._pass(before[: before.index(page)])
        else:
            self._pass(before)
            if page != MICROPHONE:
                microphone_set(participant_id=self.person.pk, has_one=False)
            self._rounds_before(page, rounds, after)
        if own and own.ends:
            finish_participant(self.person, Participant.Status.SCREENED_OUT, screen_out_reason(own))
        elif page.startswith(END):
            finish_participant(self.person, page.removeprefix(END))
        elif page == "practice":
            self.person.practice = create_practice_episode(self.person)
            self.person.save(update_fields=["practice"])

    def _rounds(self) -> list[Round]:
        return [
            Round.objects.create(
                participant=self.person,
                condition=self.rows[key],
                position=position,
                seat=people_in(self.design.condition(key))[0],
            )
            for position, key in enumerate(self.order, start=1)
        ]

    def _rounds_before(self, page: str, rounds: Sequence[Round], after: Sequence[str]) -> None:
        """Play the rounds that come before a page, and begin the one that it shows."""
        if page in (MICROPHONE, READY, "play", MIDDLE):
            self._begin(rounds[0], page)
            return
        if page == "survey":
            self._play(rounds[0])
            if survey_rule(self.design):  # it was shown already, so its rule no longer leaves it out
                self.person.visits.create(page=page, position=1, loads=1)
            return
        between = [pages_before_round(self.design, number) for number in range(2, len(rounds) + 1)]
        done = next((number for number, pages in enumerate(between, start=1) if page in pages), len(rounds))
        for one in rounds[: done if not page.startswith(END) or page == f"{END}complete" else 1]:
            self._play(one)
            self._answer(self.design.items_after(one.condition.key), one)
            one.answered_at = timezone.now()
            one.save(update_fields=["answered_at"])
        passed = [name for pages in between[:done] for name in pages]
        passed += after if page not in passed else ()
        self._pass(passed[: passed.index(page)] if page in passed else passed)

    def _pass(self, pages: Sequence[str]) -> None:
        """Mark pages as done, and answer their questions."""
        now = timezone.now()
        PageVisit.objects.bulk_create(
            PageVisit(participant=self.person, page=name, opened_at=now, done_at=now) for name in pages
        )
        for name in pages:
            self._answer(self.design.items_at(name), None)
        if "consent" in pages:
            digest = consent_digest(self.person.version, self.person.language)
            self.person.consented_at, self.person.consent_hash = now, digest
            self.person.save(update_fields=["consented_at", "consent_hash"])

    def _answer(self, items: Sequence[ItemPlan], one: Round | None) -> None:
        known = {row.key: row for row in self.person.study.items.all()}
        given: dict[str, Json] = {
            item.key: item_answer(
                item,
                self.program,
                WalkPlan(),
                self.experience,
                episode=one.position if one else 0,
                teams=self.order,
            )
            for item in items
            if item.key in known
        }
        given |= {item.key: value for item in items if (value := self._led_by_rules(item)) is not None}
        Answer.objects.bulk_create(
            Answer(participant=self.person, round=one, item=known[key], value=value)
            for key, value in given.items()
            if value is not None
        )

    def _led_by_rules(self, item: ItemPlan) -> Json:
        """Return an answer that fulfils the rules of the previewed page. Return None if they do not ask for
        this item, or if a number must be chosen."""
        mine = [one for one in self.rules if one.what == f"answer:{item.key}"]
        fitting = (option for option in item.options if all(holds(one, option) for one in mine))
        return next(fitting, None) if mine and item.kind == "single" else None

    def _begin(self, one: Round, page: str) -> None:
        """Begin a round with the settings of its condition. For its middle, the program plays some steps, up
        to the first probe."""
        if page not in (MICROPHONE, READY):
            now = timezone.now()
            self.person.visits.create(page=READY, position=one.position, opened_at=now, done_at=now)
        plan, steps = solo_condition(self.design.condition(one.condition.key)), 0
        if page == MIDDLE:
            steps = _middle(plan)
        self._episode(one, plan, plan.settings, steps, **goal_and_probes(self.design, plan))

    def _play(self, one: Round) -> None:
        """Play a short round to its end."""
        plan = solo_condition(self.design.condition(one.condition.key))
        self._episode(one, plan, shortened_settings(plan, SHORT_STEPS))

    def _episode(
        self, one: Round, plan: ConditionPlan, settings: object, steps: int | None = None, **more: Any
    ) -> None:
        """Create the episode of a round, and let the program play so many steps, or all. Clocks run only
        afterwards. `more` are further arguments of `create_episode`."""
        planned = episode_settings(self.design, plan, people_in(plan)[:1])
        minds = [without_paid_model(mind) for mind in planned["minds"]]
        clocks = {name: planned[name] for name in NO_CLOCKS if planned[name] is not None}
        seed = derived_seed(int(self.design.study["seed"]), "preview", plan.key)
        made = {
            **planned,
            **more,
            "settings": settings,
            "minds": minds,
            "audience": live_page_group(self.person.study),
        }
        if steps == 0:
            episode = create_episode(**made, seed=seed)
        else:
            player = Player(self.program, one.position)
            with playing_offline():
                episode = create_episode(**{**made, **NO_CLOCKS}, seed=seed)
                seat = episode.seats.get(number=one.seat)
                play_offline(episode, player, seat=seat, **({"steps": steps} if steps else {}))
            self.experience = player.experience()
            Episode.objects.filter(pk=episode.pk).update(**clocks, turn_opened_at=timezone.now())
        one.episode = episode
        one.save(update_fields=["episode"])
        now = Episode.objects.get(pk=episode.pk)
        if now.probing:
            schedule_turn_close(now)
        elif steps and now.status == Episode.Status.PLAYING:
            ask_coplayers(now.pk, now.step + 1)
