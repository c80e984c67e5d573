"""The researcher's sample-size page: what it computes, shows and refuses, and who may see it."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kitchen.charts.chart_drawing import draw_chart
from kitchen.infra.process_pool import BusyError
from study.analysis import figure_files
from study.planning.power.power_formulas import (
    PowerPlan,
    anova_power,
    f_from_partial_eta,
    plan_words,
    power_words,
)
from study.planning.power.sample_size_answer import (
    PowerQuestion,
    describe_power_curve,
    power_chart,
    sample_size_answer,
)
from tests.function_calls import count_calls
from tests.kitchen.charts.svg_texts import check_texts
from tests.study.analysis.test_analysis_results import AtOnce
from tests.study.factories import make_study

PAGE = "/staff/sample-size/"
FIGURE = "/staff/sample-size/power.svg"


def wish(**more: Any) -> PowerQuestion:
    usual = {"power": 0.8, "block": 10, "drop_out": 0.1, "pattern": "one", "correction": "holm"}
    return PowerQuestion(**{"plan": PowerPlan(5, 0.25), **usual, **more})


def ask(client: Client, page: str = PAGE, **more: Any) -> Any:
    return client.get(page, more)


def test_the_recommended_number_has_the_power_fills_the_scheme_and_allows_for_drop_outs() -> None:
    found = sample_size_answer(wish())
    assert (
        anova_power(PowerPlan(5, 0.25), found.needed)
        >= 0.8
        > anova_power(PowerPlan(5, 0.25), found.needed - 1)
    )
    assert (found.needed, found.best.people, found.best.blocks, found.best.invited) == (21, 30, 3, 34)
    assert [row.people for row in found.rows] == [10, 20, 21, 30, 40, 50, 60, 70]
    assert [row.enough for row in found.rows][:3] == [False, False, True]
    assert [row.blocks for row in found.rows][:4] == [1, 2, None, 3]


def test_without_blocks_the_smallest_number_is_the_recommended_one() -> None:
    found = sample_size_answer(wish(block=0))
    assert found.best.people == found.needed == 21
    assert {row.blocks for row in found.rows} == {None}


def test_pairs_that_differ_are_found_and_equal_ones_are_not() -> None:
    found = sample_size_answer(wish())
    apart = [pair for pair in found.pairs if pair.first == 0]
    same = [pair for pair in found.pairs if pair.first > 0]
    assert len(apart) == 4
    assert len(same) == 6
    assert all(pair.corrected > 0.4 and pair.alone > pair.corrected - 0.02 for pair in apart)
    assert all(pair.corrected < 0.05 and pair.difference == pytest.approx(0) for pair in same)


def test_power_is_rounded_and_never_shown_as_reached_when_it_is_not() -> None:
    assert [power_words(power) for power in (0.0, 0.5973, 0.7999, 0.8, 0.29, 0.9901, 1.0)] == [
        ".00",
        ".60",
        ".799",
        ".80",
        ".29",
        "> .99",
        "> .99",
    ]


def test_a_plan_in_words() -> None:
    assert plan_words(PowerPlan(3, 0.25)) == "3 conditions, f = 0.25, correlation .50, alpha .05, epsilon 1"


def test_the_figure_is_svg_with_its_words() -> None:
    found = sample_size_answer(wish())
    drawn = draw_chart(power_chart(found))
    check_texts(drawn)
    texts = " ".join(ElementTree.fromstring(drawn).itertext())  # noqa: S314 - our own
    assert "30 people: .94" in texts
    assert describe_power_curve(found) in texts


@pytest.mark.django_db
def test_the_page_opens_with_usual_values_and_an_answer(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_files, "_pool", AtOnce())
    answered = ask(admin_client)
    html = answered.content.decode()
    assert answered.status_code == 200
    assert "30 people who finish, so 34 who begin" in html  # 28 needed, six sequences
    figure = re.search(r'<img src="([^"]*power\.svg[^"]*)"', html)
    assert figure
    drawn = admin_client.get(figure.group(1).replace("&amp;", "&"))
    assert (drawn.status_code, drawn["Content-Type"]) == (200, "image/svg+xml")
    assert "30 people" in drawn.content.decode()
    monkeypatch.setattr(figure_files, "_pool", AtOnce(BusyError("busy")))
    assert admin_client.get(figure.group(1).replace("&amp;", "&")).status_code == 503


@pytest.mark.django_db
@pytest.mark.parametrize(("people", "verdict"), [(20, "too little"), (29, "enough")])
def test_the_power_of_the_people_one_has_is_shown_with_a_row_of_its_own(
    admin_client: Client, people: int, verdict: str
) -> None:
    answered = ask(admin_client, people=people)
    power = anova_power(PowerPlan(3, 0.25), people)
    html = answered.content.decode()
    assert f"With <strong>{people}</strong> people who finish the power is" in html
    assert f"<strong>{power_words(power)}</strong>: {verdict}." in html
    row = next(row for row in answered.context["found"].rows if row.people == people)
    assert row.power == power
    assert re.findall(r'"row" class="number">(\d+)<(?:(?!</tr>).)*>yours<', html) == [str(people)]
    assert f"people={people}" in html  # so does the figure's question


@pytest.mark.django_db
def test_the_page_begins_with_the_main_test_of_the_plan(admin_client: Client) -> None:
    make_study(conditions=3, main_test="mixed")
    html = ask(admin_client, "/staff/small/sample-size/").content.decode()
    assert "give the linear mixed model a power of .80 or more" in html
    assert power_chart(sample_size_answer(wish(test="mixed"))).title == "Power of the linear mixed model"
    assert "give the repeated-measures ANOVA a power" in ask(admin_client).content.decode()


@pytest.mark.django_db
def test_where_the_mixed_model_decides_simulated_studies_stand_beside_the_formula(
    admin_client: Client,
) -> None:
    html = ask(admin_client, test="mixed").content.decode()
    assert "The formula says .83; of 4000 simulated studies with 36 people the model found" in html
    assert re.search(r"found the effect in <strong>\.8\d</strong> \(± \.012; seeded", html)
    assert "the model found" not in ask(admin_client).content.decode()
    raised = ask(admin_client, test="mixed", conditions=5, effect=1.5, scheme="fixed").content.decode()
    assert "3 people who finish" in raised
    assert "with 2 people, the model found the effect in only .00. So 3 people are recommended" in raised


@pytest.mark.django_db
def test_too_small_an_effect_is_still_told_what_the_people_one_has_give(admin_client: Client) -> None:
    found = ask(admin_client, effect=0.02, people=20).context["form"].errors["effect"]
    assert "takes more than 2000 people for this power. With 20 it is .05." in " ".join(found)


@pytest.mark.django_db
def test_a_studys_page_begins_with_its_conditions_and_calls_them_by_name(admin_client: Client) -> None:
    make_study(conditions=4)
    html = ask(admin_client, "/staff/small/sample-size/").content.decode()
    assert re.search(r'name="conditions" value="4"', html)
    assert "Condition 3 against Condition 0" in html
    assert 'href="/staff/small/sample-size/" aria-current="page"' in html
    other = ask(admin_client, "/staff/small/sample-size/", conditions=3).content.decode()
    assert "Condition 3 against Condition 1" in other
    assert "Condition 0" not in other


@pytest.mark.django_db
def test_a_study_with_too_few_conditions_is_told_so_and_the_page_still_works(admin_client: Client) -> None:
    make_study(conditions=1)
    html = ask(admin_client, "/staff/small/sample-size/").content.decode()
    assert "This study has 1 condition; the page is for 2 to 16." in html
    assert "people who finish" not in html
    assert (
        "people who finish" in ask(admin_client, "/staff/small/sample-size/", conditions=2).content.decode()
    )


@pytest.mark.django_db
def test_partial_eta_squared_is_turned_into_f_and_shown_again(admin_client: Client) -> None:
    found = ask(admin_client, effect_kind="eta", effect="0.2").context["found"]
    assert found.partial_eta == pytest.approx(0.2)
    assert found.wish.plan.f == pytest.approx((0.25 * 0.5 * 2 / 3) ** 0.5)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("conditions", {"conditions": 1}, "greater than or equal to 2"),
        ("conditions", {"conditions": ""}, "required"),
        ("effect", {"effect": 0}, "must be above 0"),
        ("effect", {"effect": "medium"}, "Enter a number"),
        ("effect", {"effect": "nan"}, "Enter a number"),
        ("effect", {"effect": 0.001}, "takes more than 2000 people"),
        ("effect", {"effect_kind": "eta", "effect": 1}, "below 1"),
        ("correlation", {"correlation": 1}, "below 1"),
        ("correlation", {"correlation": -0.6}, "above -0.5"),
        ("correlation", {"conditions": 12, "correlation": "-0.0909090909090909"}, "above -0.0909"),
        ("correlation", {"correlation": "0.9999999999999999"}, "below 1"),
        ("people", {"people": 1}, "greater than or equal to 2"),
        ("people", {"people": 100000}, "less than or equal to 2000"),
        ("epsilon", {"epsilon": 0.3}, "epsilon is from 0.5 to 1"),
        ("scheme", {"scheme": "permutations", "conditions": 7}, "7 conditions have 5040 orders"),
        ("scheme", {"scheme": "latin"}, "Select a valid choice"),
        ("drop_out", {"drop_out": 95}, "less than or equal to 90"),
        ("alpha", {"alpha": 0}, "greater than or equal to"),
        ("pattern", {"pattern": "u"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_computed_is_said_at_its_field_and_nothing_is_shown(
    admin_client: Client, field: str, given: dict[str, Any], words: str
) -> None:
    answered = ask(admin_client, **given)
    assert answered.status_code == 200
    assert words in " ".join(answered.context["form"].errors[field])
    html = answered.content.decode()
    assert f'id="id_{field}_error"' in html
    assert "people who finish" not in html
    assert ask(admin_client, FIGURE, **given).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(("page", "status"), [(PAGE, 200), (FIGURE, 200), ("/staff/small/sample-size/", 403)])
def test_the_page_is_for_staff_and_that_of_a_study_for_its_members(
    client: Client, monkeypatch: pytest.MonkeyPatch, page: str, status: int
) -> None:
    monkeypatch.setattr(figure_files, "_pool", AtOnce())
    make_study()
    assert client.get(page).status_code == 302
    client.force_login(User.objects.create_user("someone", is_staff=True))
    assert client.get(page).status_code == status


@pytest.mark.django_db
def test_an_unknown_study_is_not_found(admin_client: Client) -> None:
    assert ask(admin_client, "/staff/nothing/sample-size/").status_code == 404


def test_groups_between_people_have_the_power_of_each_effect_of_the_mixed_anova(admin_client: Client) -> None:
    study = make_study("seats", conditions=4, between_groups="chef assistant")
    for number, row in enumerate(study.conditions.order_by("position")):
        row.between_group, row.within_level = ("chef", "assistant")[number // 2], f"level_{number % 2}"
        row.save()
    page = admin_client.get(f"/staff/{study.slug}/sample-size/").content.decode()
    assert "People needed for each effect of the mixed ANOVA of 2 groups" in page
    assert "It assumes groups of equal size" in page
    (group, *_) = re.findall(r"\(between people\)</th>(.*?)</tr>", page)
    assert re.findall(r">([\d.]+)<", group)[:5] == ["0.250", "49", "50", "100", "112"]
    assert "50 people who finish in each group, so 56 who begin: 100 and 112 in all" in page
    assert "The main test is one mixed ANOVA of all groups" in page and "not reached" not in page
    interaction = ask(admin_client, f"/staff/{study.slug}/sample-size/", tested="interaction")
    told = interaction.content.decode()
    assert "18 people who finish in each group" in told and told.count("not reached") == 1
    assert "Hypothesis about" in told and "Hypothesis about" not in admin_client.get(PAGE).content.decode()
    assert "people who finish" in ask(admin_client, groups="").content.decode(), "an empty field is 1"
    assert "Power of the mixed ANOVA by number of people" in page and "The effect: groups differ" in page
    assert "Power of the tests of pairs of conditions within one group" in page
    assert "People needed for each effect" not in admin_client.get(PAGE).content.decode()


def test_people_who_share_an_episode_are_counted_as_groups() -> None:
    """The power is that of as many people who play alone. A group begins for each that loses a member."""
    alone, pairs = sample_size_answer(wish()), sample_size_answer(wish(people_per_episode=2))
    assert (pairs.needed, pairs.best.people, pairs.best.power) == (21, 30, alone.best.power)
    assert (pairs.best.in_all, pairs.best.invited) == (60, 38)  # 30 / .81
    assert pairs.best.invited_in_all == 76
    assert "over the number of complete groups of 2 people" in describe_power_curve(pairs)
    assert "30 groups: .94" in " ".join(
        ElementTree.fromstring(draw_chart(power_chart(pairs))).itertext()  # noqa: S314 - our own
    )


@pytest.mark.django_db
def test_the_page_of_a_study_for_several_people_names_the_unit_of_analysis(admin_client: Client) -> None:
    study = make_study(conditions=3)
    page = f"/staff/{study.slug}/sample-size/"
    assert "unit of analysis" not in ask(admin_client, page).content.decode()
    shared = {"kind": "each", "people": [0, 1]}
    study.conditions.update(organisation=shared, coplayer="random", teammates=2, step_seconds=5)
    html = " ".join(ask(admin_client, page).content.decode().split())
    assert "<strong>The unit of analysis is the group.</strong> 2 people play each episode" in html
    assert "30 groups of 2 people that finish, so 38 that begin: 60 and 76 people in all" in html
    assert "How many groups of people a within-subject study needs" in html
    assert 'alt="Curve of power over the number of complete groups of 2 people; the table' in html
    alone = ask(admin_client).content.decode()
    assert "How many people a within-subject" in alone and "number of complete participants; the" in alone
    assert "Groups you have" in html and "Power of the repeated-measures ANOVA by number of groups" in html
    assert "With <strong>20</strong> groups of 2 people that finish the power is" in " ".join(
        ask(admin_client, page, people=20).content.decode().split()
    )
    mixed = ask(admin_client, groups=2).content.decode()
    assert "needs: each person plays the conditions of one group" in mixed and "within-subject" not in mixed
    refused = ask(admin_client, groups=2, together=2).content.decode()
    assert "this page plans for people who play alone" in refused
    assert "0 is" not in refused and "Ensure this value" in ask(admin_client, together=0).content.decode()


def test_the_recommendation_for_groups_is_of_the_effect_that_the_hypothesis_is_about() -> None:
    plan = PowerPlan(3, 0.25)
    for effect, people in (("group", 43), ("interaction", 14), ("condition", 14)):
        found = sample_size_answer(wish(plan=plan, block=0, groups=2, tested=effect, test="mixed"))
        assert (found.needed, found.best.in_all, found.runs) == (people, 2 * people, ())
        assert [row.needed for row in found.effects] == [43, 14, 14]
        assert power_chart(found).title == "Power of the mixed ANOVA"


def test_partial_eta_squared_is_converted_by_the_error_of_its_effect() -> None:
    """By hand: .06 / .94 = .0638; between people f^2 = .0638 (1 + 2 x .5) / 3, within .0638 x .5 x 2 / 3."""
    plan = PowerPlan(3, f_from_partial_eta(0.06, 3, 0.5))
    found = sample_size_answer(wish(plan=plan, block=0, groups=2, partial_eta=0.06))
    group, interaction, condition = found.effects
    assert group.f == pytest.approx(0.0425532**0.5, abs=1e-6)
    assert interaction.f == condition.f == pytest.approx(0.0212766**0.5, abs=1e-6)
    assert found.needed == group.needed == 63
    assert found.partial_eta == pytest.approx(0.06)


@pytest.mark.parametrize("test", ["repeated", "mixed", "friedman", "one_way"])
def test_the_slowest_questions_are_answered_with_a_bounded_number_of_function_calls(test: str) -> None:
    question = wish(plan=PowerPlan(16, 0.05), block=16, test=test)
    assert count_calls(lambda: power_chart(sample_size_answer(question))) < 4_000_000


def test_the_page_counts_the_rounds_that_a_participant_plays(admin_client: Client) -> None:
    make_study("part", conditions=6, rounds_per_person=3)
    text = " ".join(admin_client.get("/staff/part/sample-size/").content.decode().split())
    assert 'name="conditions" value="3"' in text
    assert "Each participant plays 3 of 6 conditions" in text and "each of the 6 conditions has about" in text


def test_effects_of_factors_are_planned_with_people_for_each(admin_client: Client) -> None:
    html = ask(
        admin_client, factors="group 2 between, partner 3", effect="0.25", scheme="random"
    ).content.decode()
    plain = " ".join(html.split())
    assert re.search(r"\d+ people who finish in each group", plain)
    assert "Group \N{MULTIPLICATION SIGN} partner (interaction)" in html and "Group (between people)" in html
    assert "People needed for each effect of the factorial ANOVA" in html
    assert 'id="id_conditions"' not in html and 'id="id_groups"' not in html
    within = ask(admin_client, factors="partner 3, layout 3", each_plays="one partner", test="mixed")
    assert "Each person plays 3 of 9 conditions" in within.content.decode()
    assert "finish in each group" not in within.content.decode()
    figure = admin_client.get(reverse("study:power-figure"), {"factors": "partner 3, pace 2"})
    assert figure.status_code == 200


def test_a_partial_eta_squared_of_an_effect_of_factors_is_converted(admin_client: Client) -> None:
    found = ask(admin_client, factors="group 2 between, partner 3", effect="0.06", effect_kind="eta")
    html = " ".join(found.content.decode().split())
    assert "is a partial η² of .060 at this correlation" in html and "Power of the tests of pairs" in html
    many = ask(admin_client, factors="2d_view 6, partner 8", scheme="random").content.decode()
    assert "2d_view" in many and "Power of the tests of pairs" not in many


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [("factors", "partner", "cannot be read"), ("each_plays", "one pace", "no factor within people")],
)
def test_wrong_factors_are_told_at_their_field(
    admin_client: Client, field: str, value: str, why: str
) -> None:
    html = ask(admin_client, **{"factors": "partner 3", field: value}).content.decode()
    assert f'id="id_{field}_error"' in html and why in html and "Nothing was computed" in html
