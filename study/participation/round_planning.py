"""Plan a participant's rounds, create the episode of each, and hold back rounds when the study's budget is
spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.organisation import Organisation
from kitchen.llm.provider_registry import STAND_IN
from kitchen.money.budget_ledger import is_exhausted
from kitchen.money.models import Budget
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_plan import (
    all_minds,
    mind_plans,
    people_in,
    planned_absence,
    planned_organisation,
    seats_of,
)
from study.design.counterbalancing import assign_order
from study.design.models import Study
from study.design.study_parts import practice_goal
from study.participants.end_participation import finish_participant
from study.participants.models import Group, Participant, Round
from study.participants.participant_counts import sequence_tallies, version_orders
from study.participants.participant_events import live_page_group


def plan_rounds(person: Participant) -> None:
    """Every condition of the participant's version once, in the order that the scheme gives. If one of them
    is gone (staff's previews do not keep it), the way is over."""
    Study.objects.select_for_update().get(pk=person.study_id)  # one after another: each counts the others
    design = person.version.blueprint
    scheme = version_orders(design)
    used = sequence_tallies(person.study, scheme, synthetic=person.synthetic, preview=person.preview)
    order = assign_order(scheme.name, scheme.conditions, used, seed=scheme.seed, number=person.number)
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
    person.save(update_fields=["sequence"])


def seat_in(person: Participant, condition: str) -> int:
    """Where somebody sits who plays the condition of this key without other people; where others play, the
    lobby says."""
    return people_in(person.version.blueprint.condition(condition))[0]


def create_shared_episode(
    group: Group, person: Participant, plan: ConditionPlan, people: Sequence[int]
) -> Episode:
    """The episode of a group in one condition, for the people in these seats; co-players have the seats of
    who did not come. Its seed follows from study, group and condition."""
    design = person.version.blueprint
    whose: list[object] = [] if design.study["same_dishes"] else ["group", group.number]
    seed = derived_seed(int(design.study["seed"]), "episode", *whose, plan.key)
    absence = planned_absence(plan) if len(people) > 1 else None
    awaited = sorted({*people_in(plan)} - {*people})
    return _episode(person, plan, seed=seed, people=people, absence=absence, awaited=awaited)


def create_round_episode(one: Round, person: Participant) -> Episode:
    """The episode of a round. Its seed follows from study, participant and condition; for the same
    chance for everybody, from study and condition."""
    design = person.version.blueprint
    plan = design.condition(one.condition.key)
    whose: list[object] = [] if design.study["same_dishes"] else [person.number]
    seed = derived_seed(int(design.study["seed"]), "episode", *whose, plan.key)
    return _episode(person, plan, seed=seed)


def create_practice_episode(person: Participant) -> Episode:
    """The episode to practise in, as the part says; a second one has other chances."""
    design = person.version.blueprint
    again = ["again"] if person.practice_id else []
    seed = derived_seed(int(design.study["seed"]), "practice", person.number, *again)
    part, plan = design.part("practice").settings, design.practice
    until = practice_goal(part, plan.world)
    return _episode(person, plan, seed=seed, hints=bool(part["hints"]), until=until)


def _episode(
    person: Participant,
    plan: ConditionPlan,
    *,
    seed: int,
    people: Sequence[int] | None = None,
    **more: Any,
) -> Episode:
    design, waits = person.version.blueprint, plan.thinking_seconds
    return create_episode(
        world=plan.world,
        settings=plan.settings,
        seats=seats_of(plan),
        seed=seed,
        minds=mind_plans(plan, people),
        label=plan.label,
        synthetic=person.synthetic,
        budget=study_budget(person.study),
        thinking_seconds=design.study["thinking_seconds"] if waits is None else waits,
        decision_seconds=plan.decision_seconds,
        step_seconds=plan.step_seconds,
        shown=design.shown_in(plan),
        asks_first=bool(design.meant("asks_first")),
        three_dimensions=plan.three_dimensions,
        shows_intents=plan.shows_intents,
        passes_by=plan.passes_by,
        knowing=plan.knowing,
        organisation=_organisation(design, plan, people),
        offers_plans=plan.offers_plans,
        audience=live_page_group(person.study),
        **more,
    )


def _organisation(
    design: Blueprint, plan: ConditionPlan, people: Sequence[int] | None
) -> Organisation | None:
    """The condition's, with the words that the study does not show."""
    made, words = planned_organisation(plan, people), str(design.meant("blocked_words")).splitlines()
    return replace(made, blocked=tuple(filter(None, map(str.strip, words)))) if made else None


def study_budget(study: Study) -> Budget:
    """The study's budget, made when the first episode needs it: one, however many begin at once."""
    if study.budget:
        return study.budget
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.budget is None:
        study.budget = Budget.objects.create(name=f"Study {study.slug}", limit=study.budget_limit)
        Study.objects.filter(pk=study.pk, budget=None).update(budget=study.budget)
    return study.budget


def is_budget_spent(study: Study) -> bool:
    """Whether it takes nobody new, and begins no round that costs money, because its budget is spent."""
    return study.pauses_when_spent and study.budget is not None and is_exhausted(study.budget)


def must_wait(person: Participant, one: Round) -> bool:
    """Whether this round is not begun now: a language model would be asked in it, and the money is spent."""
    if not is_budget_spent(person.study):
        return False
    return uses_paid_model(person.version.blueprint.condition(one.condition.key))


def uses_paid_model(plan: ConditionPlan) -> bool:
    """Whether a language model that costs money may be asked in this condition."""
    return any(agent.model().partition(":")[0] not in {"", STAND_IN} for _, agent in all_minds(plan))
