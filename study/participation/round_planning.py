"""Plan a participant's rounds: assign the order of conditions, and create the episode of each round.

A round is an episode (one game) with its survey, in one condition. A round with a paid language model starts
only if the study's budget can pay for all of it (`episode_money`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.organisation import Organisation, with_fixed_message_limit
from kitchen.money.budget_ledger import booked_amount, is_exhausted
from kitchen.money.models import Budget
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from study.design.blueprint import LANGUAGE_IN_PROMPTS, LEADER_MESSAGES, Blueprint, ConditionPlan
from study.design.condition_seats import (
    mind_plans,
    people_in,
    planned_absence,
    planned_organisation,
    seats_of,
)
from study.design.models import Study
from study.design.parts_other_than_rounds import practice_goal
from study.design.probe_texts import translated_probes, translated_slider
from study.design.round_plans import assign_sequence
from study.design.translations import ORIGINAL_LANGUAGE, best_language, language_codes
from study.participants.end_and_erase_participation import finish_participant
from study.participants.models import Group, Participant, Round
from study.participants.participant_counts import sequence_tallies
from study.participants.participant_notifications import live_page_group
from study.participation.episode_money import episode_allowance, lacks_money
from study.participation.group_assignment import assign_group, seed_of_draws


def plan_rounds(person: Participant) -> None:
    """Assign a between-subjects group, if the version has groups, and create the participant's rounds. There
    is one round for each condition that the plan assigns, in the assigned order.

    Raises StudyClosedError if no group is open.

    If a condition was deleted, the participation ends. Staff previews do not prevent a deletion.
    """
    Study.objects.select_for_update().get(pk=person.study_id)  # one at a time: each counts the others
    design = person.version.blueprint
    kind = {"synthetic": person.synthetic, "preview": person.preview}
    assign_group(person)
    plan = design.round_plan(person.between_group)
    used = sequence_tallies(person.study, plan, **kind)
    seed = seed_of_draws(person, plan.seed)
    order = assign_sequence(plan, used, number=person.number, seed=seed)
    rows = {row.key: row for row in person.study.conditions.all()}
    if gone := [key for key in order.order if key not in rows]:
        finish_participant(
            person, Participant.Status.TECHNICAL, f"deleted meanwhile: condition {', '.join(gone)}"
        )
        return
    Round.objects.bulk_create(
        Round(participant=person, condition=rows[key], position=position, seat=seat_in(person, key))
        for position, key in enumerate(order.order, start=1)
    )
    person.sequence = order.id or None
    person.save(update_fields=["sequence", "between_group", "allocation"])


def seat_in(person: Participant, condition: str) -> int:
    """Return the person's seat in a condition that is played without other people. `condition` is the
    condition's key. In shared conditions, the lobby assigns seats."""
    return people_in(person.version.blueprint.condition(condition))[0]


def create_shared_episode(
    group: Group, person: Participant, plan: ConditionPlan, people: Sequence[int]
) -> Episode:
    """Create the episode of a group in one condition, for the people in these seats. Co-players take the
    seats of people who did not come.

    The seed is derived from study, group and condition. If the study gives everybody the same episodes,
    the group has no influence on the seed. Raises BudgetSpentError if the budget cannot pay for the episode.
    """
    design = person.version.blueprint
    whose: list[object] = [] if design.study["same_dishes"] else ["group", group.number]
    seed = derived_seed(int(design.study["seed"]), "episode", *whose, plan.key)
    absence = planned_absence(plan) if len(people) > 1 else None
    awaited = sorted({*people_in(plan)} - {*people})
    goal = goal_and_probes(design, plan)
    money = episode_allowance(person.study, plan, people)
    return _episode(
        person, plan, seed=seed, people=people, absence=absence, awaited=awaited, allowance=money, **goal
    )


def create_round_episode(one: Round, person: Participant) -> Episode:
    """Create the episode of a round, and set money aside for it. The seed is derived from study, participant
    and condition.

    If the study gives everybody the same episodes, the seed is derived from study and condition only.
    Raises BudgetSpentError if the budget cannot pay for the episode (`must_wait`).
    """
    design = person.version.blueprint
    plan = design.condition(one.condition.key)
    whose: list[object] = [] if design.study["same_dishes"] else [person.number]
    seed = derived_seed(int(design.study["seed"]), "episode", *whose, plan.key)
    money = episode_allowance(person.study, plan)
    return _episode(person, plan, seed=seed, allowance=money, **goal_and_probes(design, plan))


def goal_and_probes(design: Blueprint, plan: ConditionPlan) -> dict[str, Any]:
    """Return the arguments for `create_episode` that set the goal, whether the episode ends when it is
    reached, and the probes and the slider, with their translations. Practice and the kitchen of the lobby
    have none of these."""
    texts, languages = design.study.get("texts", {}), language_codes(design.study.get("languages", ""))
    own = languages[0] if len(languages) > 1 else ""
    return {
        "goal": plan.goal,
        "ends_at_goal": plan.ends_at_goal,
        "probes": translated_probes(plan, texts, own),
        "rating_slider": translated_slider(plan, texts, own),
    }


def create_practice_episode(person: Participant) -> Episode:
    """Create the practice episode that the study's design defines. A second practice has another seed."""
    design = person.blueprint
    repeated = ["again"] if person.practice_id else []
    seed = derived_seed(int(design.study["seed"]), "practice", person.number, *repeated)
    part, plan = design.part("practice").settings, design.practice
    until = practice_goal(part, plan.world)
    return _episode(person, plan, seed=seed, hints=bool(part["hints"]), until=until)


def create_solo_episode(person: Participant, plan: ConditionPlan, *, seed: int) -> Episode:
    """Create an episode with hints and without a goal, in which the participant is the only person."""
    return _episode(person, plan, seed=seed, hints=True)


def create_shared_kitchen(
    person: Participant, plan: ConditionPlan, *, seed: int, absence: AbsencePolicy
) -> Episode:
    """Create an episode with hints and without a goal for people who wait. The participant has the first
    seat. The plan's co-player plays each other seat until a person takes it."""
    free = range(1, seats_of(plan))
    return _episode(person, plan, seed=seed, people=[0], hints=True, absence=absence, free=free)


def _episode(
    person: Participant,
    plan: ConditionPlan,
    *,
    seed: int,
    people: Sequence[int] | None = None,
    **more: Any,
) -> Episode:
    settings = episode_settings(person.version.blueprint, plan, people)
    design_format = person.version.blueprint.format
    settings["organisation"] = with_readers_language(settings["organisation"], person, design_format)
    return create_episode(
        **settings,
        seed=seed,
        synthetic=person.synthetic,
        budget=study_budget(person.study),
        audience=live_page_group(person.study),
        **more,
    )


def with_readers_language(
    organisation: Organisation | None, person: Participant, design_format: int
) -> Organisation | None:
    """Return the organisation with the language of the person's pages. A group reads one language.

    Agents write in it if the condition names none. English is left out, because prompts are in English.
    Designs of older formats are left as they are, so that prompts do not change during a study.
    """
    language = best_language(person.study.languages, [person.language])
    if design_format < LANGUAGE_IN_PROMPTS:
        return organisation
    if organisation is None or organisation.is_silent or language == ORIGINAL_LANGUAGE:
        return organisation
    return replace(organisation, readers_language=language)


def episode_settings(
    design: Blueprint, plan: ConditionPlan, people: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return the arguments for `create_episode` that the design determines. `people` are the seats of the
    people who came; None means everybody.

    The organisation includes the words that the study forbids in messages.
    """
    waits, blocked = plan.thinking_seconds, str(design.meant("blocked_words")).splitlines()
    organisation = planned_organisation(plan, people)
    if organisation and design.format < LEADER_MESSAGES:
        organisation = with_fixed_message_limit(organisation, plan.organisation.get("settings", {}))
    if organisation:
        organisation = replace(organisation, blocked=tuple(filter(None, map(str.strip, blocked))))
    return {
        "world": plan.world,
        "settings": plan.settings,
        "seats": seats_of(plan),
        "minds": mind_plans(plan, people),
        "label": plan.label,
        "thinking_seconds": design.study["thinking_seconds"] if waits is None else waits,
        "decision_seconds": plan.decision_seconds,
        "step_seconds": plan.step_seconds,
        "shown": design.shown_in(plan),
        "asks_first": bool(design.meant("asks_first")),
        "three_dimensions": plan.three_dimensions,
        "shows_intents": plan.shows_intents,
        "recommends_sound": plan.recommends_sound,
        "hides_dots": plan.hides_dots,
        "star_targets": plan.star_targets,
        "order_choices": plan.order_choices,
        "passes_by": plan.passes_by,
        "knowing": plan.knowing,
        "organisation": organisation,
        "offers_plans": plan.offers_plans,
    }


def study_budget(study: Study) -> Budget:
    """Return the study's budget. If there is none, create it; concurrent calls create only one."""
    if study.budget:
        return study.budget
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.budget is None:
        study.budget = Budget.objects.create(name=f"Study {study.slug}", limit=study.budget_limit)
        Study.objects.filter(pk=study.pk, budget=None).update(budget=study.budget)
    return study.budget


def is_budget_spent(study: Study) -> bool:
    """Return whether the study pauses because its budget is spent: the rest cannot pay for one more episode
    in each of the conditions. Money that is set aside for running episodes is not spent."""
    if not study.pauses_when_spent or study.budget is None:
        return False
    if is_exhausted(study.budget):
        return True
    left = study.budget.limit - booked_amount(study.budget.pk)
    return any(episode_allowance(study, one) > left for one in study.conditions.all())


def must_wait(
    person: Participant, one: Round, people: Sequence[int] | None = None, *, locks: bool = False
) -> bool:
    """Return whether this round must wait: its condition uses a paid language model, and the study's budget
    cannot pay for the whole episode.

    `people` are the seats of the people who came; None means everybody. `locks` is for transactions that
    begin the round (`lacks_money`).
    """
    plan = person.version.blueprint.condition(one.condition.key)
    return lacks_money(person.study, plan, people, locks=locks)
