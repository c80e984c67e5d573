"""Bonuses are computed by the sealed rule, confirmed by a person as seen, paid once, shown and exported."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from study.design.models import Study
from study.editor.bonus_page import BonusForm
from study.exports.export_table import ExportSelection
from study.exports.tables.payments_table import payment_rows
from study.monitor.extra_bonus import ExtraBonusError, extra_bonus_add
from study.monitor.payment_actions import pay_rows, payments_confirm, payments_mark_paid
from study.monitor.payment_files import FILES
from study.participants.bonuses import bonus_of, compute_bonuses
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment
from study.planning.bonus_forecast import forecast_bonuses
from tests.study.factories import complete, make_study
from tests.study.participation.test_views import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
RULE = {"currency": "GBP", "most": "2.00", "base": "0.40", "right": {"each": "0.30"}, "shown": True}
PAY = "/staff/small/participants/pay/"


@pytest.fixture
def study() -> Study:
    study = make_study(bonus_rule=RULE, recruitment="prolific")
    study.items.filter(key="i0").update(correct=3)
    return study


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada")


def test_a_bonus_is_that_of_the_version_and_a_later_rule_changes_nothing(study: Study) -> None:
    person = complete(study, value=3)
    Study.objects.update(bonus_rule={**RULE, "base": "2.00"})
    later = complete(Study.objects.get(), "later", value=2)
    assert [bonus_of(one).words for one in (person, later)] == ["1.00 GBP", "2.00 GBP"]  # type: ignore[union-attr]
    forecast = forecast_bonuses(Study.objects.get(), 10)
    assert forecast and (forecast.expected, forecast.worst) == (Decimal(15), Decimal(20))


def test_the_forecast_says_that_only_programs_had_a_bonus_until_a_person_has_one(study: Study) -> None:
    program = complete(study, value=3)
    study.participants.update(synthetic=True)
    forecast = forecast_bonuses(study, 10)
    assert forecast and (forecast.each, forecast.from_programs) == (bonus_of(program).amount, True)  # type: ignore[union-attr]
    complete(study, "later", value=2)
    forecast = forecast_bonuses(study, 10)
    assert forecast and (forecast.each, forecast.from_programs) == (Decimal("0.40"), False)


def test_more_people_need_no_more_queries(study: Study, django_assert_num_queries: Any) -> None:
    people = [complete(study)]
    with django_assert_num_queries(4):
        compute_bonuses(study, people)
    people.append(complete(study, "two"))
    with django_assert_num_queries(4):
        assert len(compute_bonuses(study, people)) == 2


def test_amounts_are_confirmed_as_seen_and_once(study: Study, user: User) -> None:
    person = complete(study)
    said: dict[str, Any] = {"study": study, "user": user}
    assert payments_confirm(**said, amounts={person.code: "9.99"}) == (0, 1)
    assert payments_confirm(**said, amounts={person.code: "1.00"}) == (1, 0)
    assert payments_confirm(**said, amounts={person.code: "1.00"}) == (0, 1)
    assert [payments_mark_paid(**said, codes=[person.code]) for _ in range(2)] == [1, 0]
    assert list(StaffAction.objects.values_list("action", "reason")) == [
        ("bonus", "1.00 GBP"),
        ("paid", "1.00 GBP, elsewhere"),
    ]
    (row,) = pay_rows(study)
    assert row.payment and row.payment.state == Payment.State.PAID and not row.is_open


def test_an_owner_gives_one_person_an_extra_once_and_says_why(admin_client: Client, study: Study) -> None:
    person = complete(study)
    sent = {
        "give": "yes",
        "extra-person": f"{person.code} 1.00",
        "extra-extra": "2.50",
        "extra-currency": "GBP",
    }
    sent |= {"extra-reason": "found an error", "extra-sure": "on"}
    for wrong in ({"extra-reason": ""}, {"extra-sure": ""}, {"extra-currency": "USD"}, {"extra-extra": "0"}):
        answer = admin_client.post(PAY, {**sent, **wrong})
        assert (answer.status_code == 422 and "2.50" in text_of(answer)) or "extra-extra" in wrong
    assert not Payment.objects.exists()
    for _ in range(2):
        admin_client.post(PAY, sent)
    assert Payment.objects.get().words == "3.50 GBP"
    assert "3.50 GBP, of it 2.50 extra: found an error" in StaffAction.objects.get().reason
    admin_client.post(PAY, {**sent, "extra-person": f"{person.code} 3.50"})
    (group,) = payment_rows(study, ExportSelection())
    assert [part["part"] for part in group.rows[0][2]] == ["base", "right answers", "extra", "extra"]
    assert group.rows[0][3] == 6.0
    page = f"/staff/small/participants/{person.code}/"
    assert f"?extra={person.code}#extra" in text_of(admin_client.get(page))
    Payment.objects.update(state=Payment.State.SENDING)
    assert f"?extra={person.code}#extra" not in text_of(admin_client.get(page))
    with pytest.raises(ExtraBonusError, match="paid or sent"):
        extra_bonus_add(
            study=study, user=User.objects.get(), code=person.code, seen="6.00", extra=Decimal(1),
            currency="GBP", reason="why",
        )  # fmt: skip


def test_an_owner_confirms_on_the_page_and_gets_the_files(admin_client: Client, study: Study) -> None:
    person = complete(study)
    Participant.objects.update(label="5f1abc", source="prolific", referral={"assignmentId": "=cmd()"})
    evil = complete(study, "evil")
    Participant.objects.filter(pk=evil.pk).update(label="=1+1")
    sent = {"who": [person.code, evil.code], f"amount-{person.code}": "1.00", f"amount-{evil.code}": "1.00"}
    admin_client.post(PAY, sent)  # not ticked
    assert not Payment.objects.exists()
    admin_client.post(PAY, {**sent, "sure": "on"})
    page = text_of(admin_client.get(PAY))
    assert "Left out" in page and evil.code in page and "prolific.txt" in page
    assert page.index(">Bonus</th>") < page.index(">Name</th>")  # in sight on a phone
    assert "/staff/small/participants/prolific/" in page  # where Prolific pays them
    assert "the 2 confirmed bonuses that are not paid yet" in page
    assert text_of(admin_client.get(f"{PAY}prolific.txt")) == "5f1abc,1.00\n"
    for file in FILES:
        assert "=" not in text_of(admin_client.get(f"{PAY}{file}"))
    for source, file, found in (
        ("sona", "prolific.txt", False),
        ("sona", "sona.csv", True),
        ("mturk", "mturk.csv", False),
    ):
        Participant.objects.update(source=source)
        assert ("5f1abc" in text_of(admin_client.get(f"{PAY}{file}"))) is found
    Payment.objects.update(currency="USD")
    assert "5f1abc" in text_of(admin_client.get(f"{PAY}mturk.csv"))
    assert admin_client.get(f"{PAY}other.txt").status_code == 404


def test_a_participant_sees_the_bonus_at_the_end_if_the_rule_says_so(study: Study) -> None:
    person = complete(study)
    assert "1.00 GBP" in text_of(Client().get(f"/p/{person.key}/"))
    Study.objects.update(bonus_rule={**RULE, "shown": False})
    other = complete(Study.objects.get(), "other")
    assert "GBP" not in text_of(Client().get(f"/p/{other.key}/"))


def test_each_bonus_is_exported_with_its_parts(study: Study, user: User) -> None:
    person = complete(study)
    payments_confirm(study=study, user=user, amounts={person.code: "1.00"})
    (group,) = payment_rows(study, ExportSelection())
    (row,) = group.rows
    assert row[:2] == (1.0, "GBP") and row[3:5] == (1.0, "confirmed")
    assert [part["part"] for part in row[2]] == ["base", "right answers"]


def test_the_form_stores_a_rule_and_shows_it_again(study: Study) -> None:
    sent = {
        "currency": "USD", "most": "3", "base": "0.5", "figure_1": "completed", "each_1": "0.10",
        "most_1": "1", "step": "0.05",
    }  # fmt: skip
    form = BonusForm(sent, study=study)
    assert form.is_valid(), form.errors
    assert form.rule == {
        "currency": "USD", "most": "3", "base": "0.5", "step": "0.05", "shown": False,
        "figures": {"completed": {"each": "0.10", "most": "1"}},
    }  # fmt: skip
    study.bonus_rule = form.rule
    assert BonusForm(study=study).initial["each_1"] == "0.10"
    assert not BonusForm({"currency": "USD"}, study=study).is_valid()
    for wrong in ({"figure_2": "completed", "each_2": "0.20"}, {"each_1": ""}):
        assert not BonusForm({**sent, **wrong}, study=study).is_valid()


def test_the_form_keeps_each_figure_of_a_rule(study: Study) -> None:
    figures = {f"figure of a file {number}": {"each": "0.10"} for number in range(8)}
    study.bonus_rule = {"currency": "USD", "most": "3", "figures": figures}
    shown = BonusForm(study=study)
    sent = {name: shown.get_initial_for_field(field, name) for name, field in shown.fields.items()}
    form = BonusForm({name: value for name, value in sent.items() if value is not None}, study=study)
    assert form.is_valid() and form.rule["figures"] == figures


def test_a_study_can_have_no_bonus(study: Study) -> None:
    none = BonusForm({"currency": "", "step": "0.05"}, study=study)
    assert none.is_valid() and none.rule == {}


@pytest.mark.parametrize("sent", [{"base": "2"}, {"figure_1": "completed", "each_1": "0.10"}])
def test_amounts_without_a_currency_are_not_lost(study: Study, sent: dict[str, str]) -> None:
    form = BonusForm({"currency": "", **sent}, study=study)
    assert set(form.errors) == {"currency"}
