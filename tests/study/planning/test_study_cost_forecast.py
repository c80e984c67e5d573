"""What a study's models will still cost, and whether its limit will hold."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from kitchen.agents import call_forecast
from kitchen.infra.append_only import erasure_allowed
from kitchen.llm.call_costs import load_prices
from kitchen.money.models import Budget, Spending
from kitchen.play.models import Decision, Episode, ModelCall
from study.design.models import Condition, Study
from study.participation.page_progress import finish_page
from study.participation.round_planning import create_round_episode
from study.planning.study_cost_forecast import forecast_costs
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

PAID = {"model": "anthropic:claude-sonnet-5-5", "demonstration": "none"}


@pytest.fixture
def study() -> Study:
    """Alone, with a model that has a price, and with the stand-in; three steps each."""
    found = make_study(conditions=3)
    for key, chosen in (("c1", PAID), ("c2", {"model": "stand-in"})):
        dispatched(found, key, chosen)
    return found


def dispatched(study: Study, key: str, chosen: dict[str, Any]) -> None:
    study.conditions.filter(key=key).update(
        coplayer="dispatcher", coplayer_settings=chosen, teammates=1, settings=SETTINGS
    )


def call(study: Study, *, tokens: int = 1000, written: int = 100, **more: Any) -> None:
    """One call of the paid condition's first step."""
    finish_page(participant_id=enter(study).pk, page="guide")
    one = study.participants.get().rounds.get(condition__key="c1")
    if one.episode is None:
        one.episode = create_round_episode(one, one.participant)
        one.save()
    note = more.pop("note", None)
    decision = Decision.objects.create(mind=one.episode.minds.get(), step=1, milliseconds=1, note=note)
    facts = {"provider": "anthropic", "model_asked": "claude-sonnet-5-5", "sampling": {}, "attempts": []}
    usage = {
        "tokens_input": tokens,
        "tokens_output": written,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
    }
    ModelCall.objects.create(decision=decision, number=1, seconds=1, **{"cost": 0, **facts, **usage, **more})


def test_before_any_call_the_first_steps_are_played_with_the_stand_in(study: Study) -> None:
    alone, paid, stand_in = forecast_costs(study, 10).lines
    assert (alone.expected, stand_in.expected) == (None, None)
    assert "no language model" in alone.rests_on
    assert (stand_in.model, stand_in.rests_on) == ("stand-in (no language model)", "costs nothing")
    assert paid.rests_on.startswith("estimated, no call of this study yet")
    assert paid.steps == 3
    assert paid.expected is not None
    assert paid.worst is not None
    assert 0 < paid.expected * call_forecast.CALL_TRIES < paid.worst


def test_whether_the_fixed_part_is_long_enough_for_the_cache_is_said(study: Study) -> None:
    assert (
        "too short to be cached (from 4096 on): it is paid in full" in forecast_costs(study).lines[1].rests_on
    )
    call(study)
    assert "too short to be cached" in forecast_costs(study).lines[1].rests_on
    dispatched(study, "c1", {**PAID, "model": "anthropic:claude-opus-5"})
    assert "is read from the cache after an episode's first call" in forecast_costs(study).lines[1].rests_on


def test_a_prompt_that_does_not_fit_into_its_model_is_told_before_anybody_plays(
    study: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    condition = study.conditions.get(key="c1")
    assert not any("fit" in each for each in condition.cautions)
    file = tmp_path / "models.toml"
    file.write_text('[anthropic."claude-sonnet-5-5"]\nreads = 2000\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    (told,) = condition.cautions[-1:]
    assert told.startswith("A prompt may not fit: the longest prompt has about ") and "reads 2000" in told
    assert (
        "change the condition before anybody plays it: the longest" in forecast_costs(study).lines[1].rests_on
    )


def test_a_second_try_in_a_step_more_than_doubles_the_worst(study: Study) -> None:
    once = forecast_costs(study).each_worst
    dispatched(study, "c1", {**PAID, "repair": 1})
    assert 2 * once < forecast_costs(study).each_worst < 4 * once


def test_the_studys_own_calls_are_what_it_rests_on_as_soon_as_there_are_some(study: Study) -> None:
    call(study)
    paid = forecast_costs(study).lines[1]
    price = load_prices().price("anthropic", "claude-sonnet-5-5")
    assert paid.expected == pytest.approx(3 * (1000 * price.input + 100 * price.output) / 1e6)
    assert paid.rests_on.startswith(
        "measured on 1 calls of this study: 1 a step, on average 1000 tokens read"
    )
    assert paid.rests_on.endswith(
        "1 of the last 1 calls read nothing from the cache: the fixed part is too short for this model (1)"
    )


def test_what_was_paid_for_replies_that_nobody_could_read_is_said(study: Study, admin_client: Client) -> None:
    unread: dict[str, Any] = {
        "faults": [{"code": "no_command", "seat": None, "command": [], "text": "…"}],
        "mended": [],
    }
    call(study, note=unread)
    said = "100% of the decisions were not read whole"
    assert [said in line.caution for line in forecast_costs(study).lines] == [False, True, False]
    assert said in admin_client.get("/staff/small/").content.decode()


def test_what_was_booked_counts_where_it_is_more_and_calls_that_were_not_made_do_not(study: Study) -> None:
    call(study, cost=Decimal("0.5"))
    assert forecast_costs(study).lines[1].expected == pytest.approx(1.5)
    with erasure_allowed():
        ModelCall.objects.all().delete()
        Decision.objects.all().delete()
    call(study, error="budget")
    assert forecast_costs(study).lines[1].rests_on.startswith("estimated")


def test_calls_that_were_never_answered_make_nothing_look_cheap(study: Study) -> None:
    before = forecast_costs(study).lines[1].expected
    call(study, tokens=0, written=0, error="timeout")
    assert forecast_costs(study).lines[1].expected == before


def test_those_who_take_part_now_count_with_the_steps_that_they_have_left(study: Study) -> None:
    finish_page(participant_id=enter(study).pk, page="guide")
    found = forecast_costs(study, 0)
    assert found.ahead == pytest.approx(found.each)
    round_ = study.participants.get().rounds.get(condition__key="c1")
    round_.episode = create_round_episode(round_, round_.participant)
    round_.save()
    Episode.objects.filter(pk=round_.episode.pk).update(step=2)
    assert forecast_costs(study, 0).ahead == pytest.approx(found.each / 3)


def test_whether_the_limit_holds_is_said_in_words(study: Study) -> None:
    each = forecast_costs(study, 1)
    for limit, words in (
        (100_000, "The limit will hold, even at worst."),
        (
            each.each * 10 * 2.1,
            "The limit will hold with a probability of at least 95 %. At worst it does not",
        ),
        (each.each * 10 * 1.5, "The limit is expected to hold, but this is not sure"),
        (each.each * 5.5, "is enough for about 5 of the 10 participants"),
    ):
        study.budget_limit = limit
        assert words in forecast_costs(study, 10).verdict
    study.conditions.filter(key="c1").delete()
    assert "nothing will be spent" in forecast_costs(study, 10).verdict


def test_what_was_spent_and_set_aside_is_not_left(study: Study) -> None:
    study.budget = Budget.objects.create(name="x", limit=10)
    Spending.objects.create(budget=study.budget, reserved=2, spent=1, settled_at=timezone.now())
    Spending.objects.create(budget=study.budget, reserved=3)
    found = forecast_costs(study)
    assert (found.spent, found.reserved, found.left) == (1, 3, 6)


def test_a_model_without_a_price_and_a_broken_price_list_are_named(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatched(study, "c2", {"model": "anthropic:claude-unheard-of"})
    assert "no price is known for anthropic/claude-unheard-of" in forecast_costs(study).lines[2].rests_on
    file = tmp_path / "prices.toml"
    file.write_text("what?")
    monkeypatch.setenv("BRIGADE_PRICES", str(file))
    assert "not TOML" in forecast_costs(study).lines[1].rests_on


def test_the_page_takes_a_number_and_says_what_it_does_not_understand(
    study: Study, admin_client: Client
) -> None:
    page = admin_client.get("/staff/small/?participants=40").content.decode()
    assert "expected for 40 to come" in page
    for wrong in ("-1", "many", "1e9", "9999999", "²"):
        response = admin_client.get("/staff/small/", {"participants": wrong})
        assert response.status_code == 422
        assert "Give a whole number of participants" in response.content.decode()


def test_a_condition_that_cannot_be_played_breaks_no_page(study: Study, admin_client: Client) -> None:
    Condition.objects.filter(key="c1").update(settings={"level": "level_99"})
    assert "cannot be played" in forecast_costs(study).lines[1].rests_on
    assert admin_client.get("/staff/small/").status_code == 200


def test_a_participant_who_plays_a_part_of_the_conditions_costs_only_these_rounds(study: Study) -> None:
    whole = forecast_costs(study, 10)
    for number in range(2):
        row = study.conditions.get(key="c1")
        row.pk, row.key, row.name = None, f"extra{number}", f"Extra {number}"
        row.save()
    doubled = forecast_costs(study, 10)
    study.rounds_per_person = 2
    part = forecast_costs(study, 10)
    assert {round(line.share, 3) for line in part.lines} == {0.4} and whole.each > 0
    assert part.each == pytest.approx(doubled.each * 2 / 5) and part.each_worst < doubled.each_worst


def test_the_cost_that_is_likely_enough_rests_on_how_much_finished_episodes_differ(study: Study) -> None:
    """By hand: five episodes cost 1 to 5 thousandths of a dollar, so the standard deviation is 2.5 ** 0.5.
    Ten people to come: the spread of the sum is 2.5 ** 0.5 (10 + 100 / 5) ** 0.5 = 75 ** 0.5."""
    budget = Budget.objects.create(name="x", limit=1000)
    for number in range(1, 6):
        person = enter(study, str(number))
        one = person.rounds.get(condition__key="c1")
        one.episode = create_round_episode(one, person)
        one.save()
        each = one.episode.minds.get()
        facts = {"provider": "anthropic", "model_asked": "claude-sonnet-5-5", "sampling": {}, "attempts": []}
        usage = dict.fromkeys(("tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write"), 1)
        made = Decision.objects.create(mind=each, step=1, milliseconds=1)
        ModelCall.objects.create(decision=made, number=1, seconds=1, **facts, **usage)
        Spending.objects.create(budget=budget, mind=each, reserved=9, spent=number / 1000)
        if number == 5:
            assert forecast_costs(study, 10).lines[1].spread is None
        Episode.objects.filter(pk=one.episode.pk).update(status=Episode.Status.OVER, step=3)
    study.participants.update(status="complete")
    found = forecast_costs(study, 10)
    assert found.lines[1].spread == pytest.approx(2.5**0.5 / 1000) and found.lines[1].episodes == 5
    assert found.likely == pytest.approx(found.ahead + 1.645 * 75**0.5 / 1000)
    assert found.ahead < found.likely < found.ahead_worst
