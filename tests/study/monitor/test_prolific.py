"""Prolific by its API, against a server of our own with faults: places are freed, nobody is paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from study.design.models import Study
from study.monitor import prolific_services
from study.monitor.payment_actions import payments_confirm
from study.monitor.prolific_api import ProlificClient, ProlificError
from study.monitor.prolific_services import (
    SETTLE_AFTER,
    bonuses_pay,
    bonuses_settle,
    free_all_left_places,
    free_left_places,
)
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment
from tests.stand_in_prolific import STUDY, TOKEN, StandInProlific
from tests.study.factories import complete, enter, make_study
from tests.study.participation.test_views import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
RULE = {"currency": "GBP", "most": "2.00", "base": "0.40"}
PAGE = "/staff/small/participants/prolific/"


@pytest.fixture
def server(settings: Any) -> Iterator[StandInProlific]:
    with StandInProlific(PA="AWAITING REVIEW", PB="RETURNED", PC="TIMED-OUT", PD="ACTIVE") as server:
        settings.PROLIFIC_API, settings.PROLIFIC_TOKEN = server.url, TOKEN
        yield server


@pytest.fixture
def study() -> Study:
    return make_study(bonus_rule=RULE, recruitment="prolific", prolific_study=STUDY)


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada")


def client(**more: Any) -> ProlificClient:
    return ProlificClient(wait=lambda _: None, **{"seconds": 0.2, **more})


def came(person: Participant, label: str) -> Participant:
    Participant.objects.filter(pk=person.pk).update(label=label, source="prolific")
    person.refresh_from_db()
    return person


def confirmed(study: Study, user: User) -> Participant:
    person = came(complete(study), "PA")
    assert payments_confirm(study=study, user=user, amounts={person.code: "0.40"}) == (1, 0)
    return person


def state() -> str:
    return Payment.objects.get().state


@pytest.mark.parametrize("fault", [429, 500, 503, "hang", "lost"])
def test_a_question_is_asked_again_after_a_fault(server: StandInProlific, fault: int | str) -> None:
    server.faults = [fault, fault]
    assert client().study(STUDY).name == "Ours"
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("fault", "asked", "unsure"),
    [(429, 2, None), (500, 1, True), (302, 1, True), ("hang", 1, True), (400, 1, False)],
)
def test_a_change_is_sent_again_only_if_it_was_not_accepted(
    server: StandInProlific, fault: int | str, asked: int, unsure: bool | None
) -> None:
    server.faults = [fault]
    if unsure is None:
        client().publish(STUDY)
        assert server.status == "ACTIVE"
    else:
        with pytest.raises(ProlificError) as error:
            client().publish(STUDY)
        assert error.value.unsure is unsure
    assert len(server.asked) == asked


def test_what_cannot_work_is_told_in_words(server: StandInProlific, settings: Any) -> None:
    for told, words in (
        (client(token="wrong"), "token"),
        (client(), "does not know"),
        (client(), "not an ID"),
    ):
        study = {"token": STUDY, "does not know": "unknown", "not an ID": "../submissions"}[words]
        with pytest.raises(ProlificError, match=words):
            told.study(study)
    settings.PROLIFIC_TOKEN = ""
    with pytest.raises(ProlificError, match="is not set"):
        client().study(STUDY)
    assert free_all_left_places() == 0


def test_people_who_left_on_prolific_free_their_places(server: StandInProlific, study: Study) -> None:
    people = {label: came(enter(study, label), label) for label in ("PB", "PC", "PD")}
    done = came(complete(study, "PA"), "PA")
    study.outcomes.update_or_create(kind="timed_out", defaults={"code": "LATE"})
    assert free_left_places(study, client()) == 2
    assert free_left_places(study, client()) == 0
    ends = dict(study.participants.values_list("label", "end_reason"))
    assert (ends["PB"], ends["PC"], ends["PD"]) == ("returned on Prolific", "timed out on Prolific", "")
    codes = dict(study.participants.values_list("label", "given_code"))
    assert (codes["PB"], codes["PC"]) == ("", "LATE")
    page = text_of(Client().get(f"{people['PB'].get_absolute_url()}"))
    assert "You returned your submission" in page and "inactive" not in page and "LATE" not in page
    statuses = set(
        study.participants.filter(pk__in=(people["PD"].pk, done.pk)).values_list("status", flat=True)
    )
    assert statuses == {"active", "complete"}
    came(enter(study, "more"), "PX")
    server.submissions["sPX"] = ["PX", "RETURNED", ""]
    Study.objects.update(status="closed")
    assert free_all_left_places() == 0
    Study.objects.update(status="open")
    assert free_all_left_places() == 1


def test_the_ids_that_people_came_by_are_not_made_up_by_programs(admin_client: Client, study: Study) -> None:
    for label, synthetic in (("PA", False), ("SYN-1-1", True)):
        person = enter(study, label)
        referral = {"STUDY_ID": f"study{label}"}
        Participant.objects.filter(pk=person.pk).update(
            source="prolific", referral=referral, synthetic=synthetic
        )
    page = admin_client.get(f"/staff/{study.slug}/participants/prolific/").content.decode()
    assert "studyPA" in page and "SYN-1-1" not in page


def test_a_study_that_cannot_be_read_and_who_withdrew_stop_no_others(
    server: StandInProlific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    for label in ("PB", "PC"):
        came(enter(study, label), label)
    first = study.participants.order_by("pk")[0].pk

    def end(*, participant_id: int, **_: Any) -> bool:
        if participant_id == first:
            raise Participant.DoesNotExist
        return True

    monkeypatch.setattr(prolific_services, "participant_end", end)
    assert free_left_places(study, client()) == 1
    second = make_study("second", recruitment="prolific", prolific_study=STUDY)
    real = prolific_services.free_left_places

    def free(one: Study, told: ProlificClient) -> int:
        if one == study:
            raise AttributeError
        return real(one, told) + 7

    monkeypatch.setattr(prolific_services, "free_left_places", free)
    assert second.pk > study.pk and free_all_left_places() == 7


def test_a_bonus_is_announced_stored_and_paid_once(server: StandInProlific, study: Study, user: User) -> None:
    person = confirmed(study, user)
    pay: dict[str, Any] = {"user": user, "codes": [person.code], "client": client()}
    assert [bonuses_pay(study, **pay), bonuses_pay(study, **pay)] == [1, 0]
    assert list(server.announced.values()) == ["PA,0.40\n"]
    assert (server.paid, state()) == (list(server.announced), "paid")
    assert StaffAction.objects.filter(action="paid", reason="0.40 GBP, at Prolific").count() == 1


@pytest.mark.parametrize("paid", [True, False])
def test_a_lost_answer_is_never_asked_for_again_and_an_owner_settles_it(
    server: StandInProlific, study: Study, admin_client: Client, paid: bool
) -> None:
    user = User.objects.get(username="admin")
    person = confirmed(study, user)
    pay: dict[str, Any] = {"user": user, "client": client()}
    server.faults = ["", "", "lost"]
    with pytest.raises(ProlificError) as error:
        bonuses_pay(study, codes=[person.code], **pay)
    assert error.value.unsure and state() == "sending" and len(server.paid) == 1
    assert bonuses_pay(study, codes=[person.code], **pay) == 0
    page = text_of(admin_client.get(PAGE))
    assert server.paid[0] in page and "0.40 GBP" in page
    settle = {"who": [person.code], "settle": "paid" if paid else "unpaid", "sure": "on"}
    admin_client.post(PAGE, settle)
    assert state() == "sending"  # an answer can still come
    Payment.objects.update(sent_at=timezone.now() - SETTLE_AFTER * 2)
    admin_client.post(PAGE, settle)
    assert (state(), len(server.paid)) == ("paid" if paid else "confirmed", 1)
    assert StaffAction.objects.filter(action="paid").count() == paid


@pytest.mark.parametrize("fault", [400, 401, 403, 429])
def test_what_prolific_refuses_can_be_paid_later(
    server: StandInProlific, study: Study, user: User, fault: int
) -> None:
    person = confirmed(study, user)
    pay: dict[str, Any] = {"user": user, "codes": [person.code], "client": client()}
    for before in ([""], ["", ""]):
        server.faults = [*before, *[fault] * 4]
        with pytest.raises(ProlificError):
            bonuses_pay(study, **pay)
        assert (state(), server.paid) == ("confirmed", [])
        server.faults = []
    assert bonuses_pay(study, **pay) == 1 and state() == "paid"


def test_a_worker_that_died_before_the_announcement_leaves_what_an_owner_can_free(
    server: StandInProlific, study: Study, user: User
) -> None:
    person = confirmed(study, user)
    Payment.objects.update(state="sending", sent_at=None)
    settle: dict[str, Any] = {"user": user, "codes": [person.code]}
    assert [bonuses_settle(study, **settle, paid=False) for _ in range(2)] == [1, 0]
    assert state() == "confirmed"


class MeanwhileClient(ProlificClient):
    """A client that calls `meanwhile` after it announced bonuses, and `at_pay` before it pays them."""

    meanwhile = at_pay = staticmethod(lambda: None)

    def prepare_bonuses(self, study: str, lines: str) -> str:
        reference = super().prepare_bonuses(study, lines)
        self.meanwhile()
        return reference

    def pay_bonuses(self, payment: str) -> None:
        super().pay_bonuses(payment)
        self.at_pay()


def test_an_attempt_that_lost_its_bonuses_pays_nothing(
    server: StandInProlific, study: Study, user: User
) -> None:
    person, slow = confirmed(study, user), MeanwhileClient()
    pay: dict[str, Any] = {"user": user, "codes": [person.code]}

    def other_attempt() -> None:
        Payment.objects.update(sent_at=None)
        bonuses_settle(study, **pay, paid=False)
        assert bonuses_pay(study, **pay, client=client()) == 1

    slow.meanwhile = other_attempt
    with pytest.raises(ProlificError, match="Nothing was paid"):
        bonuses_pay(study, **pay, client=slow)
    assert (state(), len(server.paid)) == ("paid", 1)


def test_somebody_who_withdraws_while_we_pay_leaves_the_others_paid(
    server: StandInProlific, study: Study, user: User
) -> None:
    slow, people = MeanwhileClient(), [came(complete(study, who), who) for who in ("PA", "PD")]
    codes = [one.code for one in people]
    payments_confirm(study=study, user=user, amounts=dict.fromkeys(codes, "0.40"))
    slow.at_pay = lambda: participant_withdraw(participant_id=people[0].pk)  # type: ignore
    assert bonuses_pay(study, user=user, codes=codes, client=slow) == 1
    assert state() == "paid" and StaffAction.objects.get(action="paid").participant == people[1]


def test_only_people_of_prolific_are_paid_there_and_in_its_currency(
    server: StandInProlific, study: Study, user: User
) -> None:
    person = confirmed(study, user)
    pay: dict[str, Any] = {"user": user, "codes": [person.code], "client": client()}
    Payment.objects.update(currency="USD")
    with pytest.raises(ProlificError, match="in GBP"):
        bonuses_pay(study, **pay)
    Payment.objects.update(currency="GBP")
    Participant.objects.update(source="sona")
    assert bonuses_pay(study, **pay) == 0
    assert (state(), server.announced) == ("confirmed", {})


def test_an_owner_publishes_approves_and_rejects_on_the_page(
    admin_client: Client, server: StandInProlific, study: Study
) -> None:
    person = came(complete(study), "PA")
    page = text_of(admin_client.get(PAGE))
    assert "AWAITING-REVIEW" in page
    publishes, frees = (part.partition("</form>")[0] for part in page.split("Yes, ")[1:3])
    assert 'name="publish"' in publishes and 'name="free"' not in publishes and 'name="free"' in frees
    admin_client.post(PAGE, {"publish": "yes"})  # not ticked
    assert server.status == "UNPUBLISHED"
    for sent in ({"publish": "yes"}, {"places": "25"}):
        admin_client.post(PAGE, {**sent, "sure": "on"})
    assert (server.status, server.places) == ("ACTIVE", 25)
    review = {"who": [person.code], "sure": "on"}
    short = admin_client.post(PAGE, {**review, "review": "reject", "reason": "too short " * 9})
    assert "too short" in text_of(short) and server.submissions["sPA"][1] == "AWAITING REVIEW"
    admin_client.post(PAGE, {**review, "review": "return", "reason": "You were away for long."})
    for _ in range(2):
        admin_client.post(PAGE, {**review, "review": "approve"})
    assert server.submissions["sPA"][1] == "APPROVED" and "You were away for long." in server.messages
    assert list(StaffAction.objects.values_list("reason", flat=True))[-1] == "approve on Prolific"
    away = came(enter(study), "PD")
    Participant.objects.filter(pk=away.pk).update(given_code="OUT1")
    for _ in range(2):  # the second time, Prolific no longer waits for a code
        admin_client.post(PAGE, {"who": [away.code], "sure": "on", "review": "code"})
    assert server.submissions["sPD"] == ["PD", "SCREENED OUT", "OUT1"]
    assert sum(one == "POST submissions/sPD/transition/" for one in server.asked) == 1
    server.faults = [401]
    assert "does not accept the token" in text_of(admin_client.get(PAGE)) and TOKEN not in text_of(
        admin_client.get(PAGE)
    )
