"""Who is meant to do what in a dry run, and what that does to the orders of those who finish."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.design.blueprint import blueprint_of
from study.design.counterbalancing import carry_over_counts, position_counts
from study.design.models import Study, StudyPart, SurveyItem
from study.participants.end_and_erase_participation import (
    finish_participant,
    participant_end,
    participant_withdraw,
)
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.pilot.bots.many_walkthroughs import CrowdOrder
from study.pilot.bots.walk_plans import (
    OutcomeShares,
    PlannedOutcome,
    StopPage,
    StudyScript,
    WalkPlan,
    walk_plans,
)
from study.pilot.dry_run_execution import study_script
from tests.nightly import nightly
from tests.study.factories import make_study


def script_of(study: Study) -> StudyScript:
    return study_script(blueprint_of(study), study.recruitment)


def planned_outcomes(
    shares: OutcomeShares, script: StudyScript, *, participants: int, seed: int
) -> list[PlannedOutcome]:
    return [plan.outcome for plan in walk_plans(shares, script, participants=participants, seed=seed)]


STOPS = (StopPage("guide"), StopPage("play", 1), StopPage("survey", 1))
SCRIPT = StudyScript(stops=STOPS, has_check=True)
SHARES = OutcomeShares(drop_outs=15, withdrawals=5, refusals=10, fail_checks=10)


def test_the_outcomes_of_forty_have_the_requested_shares() -> None:
    assert Counter(planned_outcomes(SHARES, SCRIPT, participants=40, seed=1)) == {
        PlannedOutcome.FINISH: 24,
        PlannedOutcome.DROP_OUT: 6,
        PlannedOutcome.WITHDRAW: 2,
        PlannedOutcome.REFUSE: 4,
        PlannedOutcome.FAIL: 4,
    }


def test_without_shares_everybody_finishes_and_without_a_check_nobody_fails_it() -> None:
    assert walk_plans(OutcomeShares(), SCRIPT, participants=3, seed=1) == [WalkPlan()] * 3
    assert PlannedOutcome.FAIL not in planned_outcomes(
        SHARES, StudyScript(stops=STOPS), participants=100, seed=1
    )


def test_the_same_seed_plans_the_same_and_another_one_something_else() -> None:
    found = walk_plans(SHARES, SCRIPT, participants=40, seed=1)
    assert found == walk_plans(SHARES, SCRIPT, participants=40, seed=1)
    assert found != walk_plans(SHARES, SCRIPT, participants=40, seed=2)


@given(
    shares=st.lists(st.floats(0, 25), min_size=4, max_size=4),
    participants=st.integers(1, 300),
    seed=st.integers(0, 2**31),
)
def test_every_share_is_kept_within_one_person(shares: list[float], participants: int, seed: int) -> None:
    asked = OutcomeShares(*shares)
    found = Counter(planned_outcomes(asked, SCRIPT, participants=participants, seed=seed))
    assert found.total() == participants
    for outcome, share in asked.by_outcome.items():
        assert abs(found[outcome] - share * participants / 100) <= 1


def test_participants_leave_on_one_of_the_pages() -> None:
    for plan in walk_plans(SHARES, SCRIPT, participants=200, seed=3):
        leaves = plan.outcome in {PlannedOutcome.DROP_OUT, PlannedOutcome.WITHDRAW}
        assert (plan.stop in STOPS) if leaves else plan.stop is None
        assert 0.1 <= plan.part <= 1


def test_nobody_is_planned_to_leave_on_a_page_that_a_rule_may_leave_out() -> None:
    script = replace(SCRIPT, for_some={"guide", "survey"})
    plans = walk_plans(OutcomeShares(drop_outs=100), script, participants=9, seed=1)
    assert {plan.stop for plan in plans} == {StopPage("play", 1)}


def test_labels_are_named_synthetic() -> None:
    script = StudyScript(link_names=("PROLIFIC_PID", "STUDY_ID"))
    order = CrowdOrder(3, 7, 1, link="http://test/s/small/?invitation=a", script=script)
    assert order.link_of(3).endswith("?invitation=a&PROLIFIC_PID=SYN-7-3&STUDY_ID=SYN-7-3")
    assert replace(order, script=StudyScript()).link_of(3) == order.link


@pytest.mark.django_db
def test_the_script_is_read_from_the_study() -> None:
    study = make_study(conditions=2, recruitment="prolific")
    StudyPart.objects.create(study=study, kind="check", settings={"on_failure": "continue"})
    StudyPart.objects.create(study=study, kind="final", text="Look back.")
    SurveyItem.objects.create(study=study, key="ok", place="check", measure="ok", text="?", correct=3)
    script = script_of(study)
    assert {key: item.correct for key, item in script.items.items() if item.correct} == {"ok": 3}
    assert script.link_names == ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    assert (script.has_check, script.check_ends) == (True, False)
    assert [str(stop) for stop in script.stops] == [
        "consent",
        "guide",
        "check",
        "play 1",
        "survey 1",
        "play 2",
        "survey 2",
        "final",
    ]


AT_ONCE = 4


def simulate(study: Study, seed: int) -> list[Participant]:
    """Forty come, four at a time; who they are and what they do is as in a dry run. Those who finish."""
    script, shares = script_of(study), OutcomeShares(drop_outs=15, withdrawals=5)
    inside: list[tuple[int, WalkPlan]] = []
    for number, plan in enumerate(walk_plans(shares, script, participants=40, seed=seed), start=1):
        if len(inside) == AT_ONCE:
            end(*inside.pop(0))
        person = participant_enter(study_id=study.pk, entry=f"e{number}", synthetic=True)
        consent_given(participant_id=person.pk)
        inside.append((person.pk, plan))
    for one in inside:
        end(*one)
    return list(study.participants.filter(status=Participant.Status.COMPLETE))


def end(pk: int, plan: WalkPlan) -> None:
    """Do what was planned; a drop-out is swept."""
    if plan.outcome == PlannedOutcome.WITHDRAW:
        participant_withdraw(participant_id=pk)
    elif plan.outcome == PlannedOutcome.DROP_OUT:
        participant_end(participant_id=pk, status=Participant.Status.TIMED_OUT)
    else:
        finish_participant(Participant.objects.get(pk=pk), Participant.Status.COMPLETE)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, *nightly(2, 3)])
def test_forty_with_drop_outs_are_balanced_among_those_who_finish(seed: int) -> None:
    done = simulate(study := make_study(conditions=3), seed)
    assert (len(done), study.participants.count(), Study.objects.get().withdrawn_synthetic) == (32, 38, 2)
    held = Counter(person.sequence for person in done)
    assert set(held) == set(range(1, 7))
    assert max(held.values()) - min(held.values()) <= 1, held
    orders = [[one.condition.key for one in person.rounds.all()] for person in done]
    whole, over = divmod(32, 6)
    for pair in permutations(("c0", "c1", "c2"), 2):
        assert 2 * whole <= carry_over_counts(orders)[pair] <= 2 * whole + over
    for at in position_counts(orders).values():
        assert all(2 * whole <= times <= 2 * whole + over for times in at)
