"""A script cannot fill a study: places, the rate of one address, and the pause when entries jump."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from brigade.settings import _trusted_proxies
from kitchen.infra.client_address import client_address, client_network
from kitchen.realtime.clock_load import report_full_clocks
from study.design.models import Condition, Study, StudyPart
from study.design.study_errors import EntryPausedError
from study.participants.entry_limits import is_full
from study.participants.models import EntryPause, Participant
from study.participation.enter_study import (
    participant_enter,
    synthetic_invitation,
    too_many_entries,
    uncounted_entries,
)
from study.pilot.previews import study_preview
from tests.study.factories import enter, make_study
from tests.study.participation.test_views import agree, begin, field, text_of

pytestmark = pytest.mark.django_db

ELSEWHERE = {"REMOTE_ADDR": "203.0.113.9"}


def test_entering_alone_takes_no_place(client: Client) -> None:
    study = make_study(max_participants=1)
    early = begin(Client(), study)["Location"]
    begin(Client(), study)
    assert not is_full(study)
    agree(client, study)
    assert client.get("/s/small/").status_code == 302  # who is in goes on
    assert Client().get("/s/small/").status_code == 403
    late = client.post(early, {"page": "consent", "agree_0": "on"})
    assert (late.status_code, "took the last place" in text_of(late)) == (403, True)
    assert Participant.objects.exclude(consented_at=None).count() == 1
    Participant.objects.exclude(consented_at=None).update(excluded_at=timezone.now())
    assert client.post(early, {"page": "consent", "agree_0": "on"}).status_code == 302
    assert Participant.objects.exclude(consented_at=None).count() == 2


def test_a_person_can_refuse_though_the_study_is_full(client: Client) -> None:
    study = make_study(max_participants=1)
    early = begin(client, study)["Location"]
    enter(study)
    client.post(early, {"page": "consent", "refuse": "yes"})
    assert Participant.objects.filter(status="no_consent").count() == 1


def test_without_consent_a_place_is_taken_by_the_first_page_that_is_done() -> None:
    study = make_study(max_participants=1)
    StudyPart.objects.filter(kind="consent").update(enabled=False)
    clients = [Client(), Client(), Client()]
    links = [begin(one, study)["Location"] for one in clients]
    assert not is_full(study)
    for one, link in zip(clients, links, strict=True):
        one.post(link, {"page": "guide"})
    assert is_full(study)
    assert sum("ws-connect" in text_of(one.get(link)) for one, link in zip(clients, links, strict=True)) == 1


def test_one_address_can_begin_only_so_often_and_loses_nothing(client: Client) -> None:
    study = make_study(entries_per_address=2)
    for _ in range(2):
        page = text_of(Client(**ELSEWHERE).get("/s/small/"))  # type: ignore[arg-type]
        Client(**ELSEWHERE).post("/s/small/", {"entry": field(page, "entry")})  # type: ignore[arg-type]
    entry = field(text_of(client.get("/s/small/")), "entry")
    answer = client.post("/s/small/", {"entry": entry}, **ELSEWHERE)  # type: ignore[arg-type]
    assert (answer.status_code, answer["Retry-After"]) == (429, "600")
    assert "come back in a few minutes" in text_of(answer)
    assert study.participants.count() == 2
    assert field(text_of(answer), "entry") == entry
    cache.clear()  # ten minutes later
    assert client.post("/s/small/", {"entry": entry}, **ELSEWHERE).status_code == 302  # type: ignore[arg-type]


def test_other_addresses_programs_and_participants_are_not_turned_away(client: Client) -> None:
    study = make_study(entries_per_address=1, recruitment="label")
    for label in ("a", "a"):
        page = text_of(client.get("/s/small/", {"label": label}))
        sent = Client().post(f"/s/small/?label={label}", {"entry": field(page, "entry")}, **ELSEWHERE)  # type: ignore[arg-type]
        assert sent.status_code == 302
    page = text_of(client.get("/s/small/", {"label": "b"}))
    other = {"entry": field(page, "entry")}
    assert Client().post("/s/small/?label=b", other, **ELSEWHERE).status_code == 429  # type: ignore[arg-type]
    program = {**other, "invitation": synthetic_invitation(study)}
    assert Client().post("/s/small/?label=c", program, **ELSEWHERE).status_code == 302  # type: ignore[arg-type]
    page = text_of(client.get("/s/small/", {"label": "b"}))
    elsewhere = {"REMOTE_ADDR": "203.0.113.10"}
    sent = Client().post("/s/small/?label=b", {"entry": field(page, "entry")}, **elsewhere)  # type: ignore[arg-type]
    assert sent.status_code == 302


def test_while_the_cache_is_away_people_are_let_in(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(entries_per_address=1)

    def away(*_: object, **__: object) -> None:
        raise RedisAway("nobody there")

    monkeypatch.setattr("django.core.cache.backends.locmem.LocMemCache.add", away)
    for _ in range(2):
        entry = field(text_of(Client().get("/s/small/")), "entry")
        assert Client().post("/s/small/", {"entry": entry}, **ELSEWHERE).status_code == 302  # type: ignore[arg-type]


def test_when_entries_jump_entry_pauses_and_goes_on_by_itself(client: Client) -> None:
    study = make_study(entries_per_minute=3)
    for _ in range(3):
        begin(Client(), study)
    door = client.get("/s/small/")
    assert (door.status_code, "come back in a few minutes" in text_of(door)) == (429, True)
    entry = {"entry": field(text_of(door), "entry")}
    assert client.post("/s/small/", entry).status_code == 429
    assert study.participants.count() == 3
    EntryPause.objects.update(until=timezone.now())
    assert client.post("/s/small/", entry).status_code == 302
    assert EntryPause.objects.count() == 1  # those of before do not count again


def test_one_address_alone_does_not_shut_a_study() -> None:
    study = make_study(entries_per_minute=7, entries_per_address=None)

    def from_address(number: int) -> int:
        one = Client(REMOTE_ADDR=f"203.0.113.{number}")
        return int(begin(one, study).status_code)

    assert [from_address(1) for _ in range(12)] == [302] * 12
    assert from_address(2) == 302
    assert [from_address(3), from_address(4)] == [302, 429]


def from_address(address: str) -> HttpRequest:
    return RequestFactory().get("/s/small/", REMOTE_ADDR=address)


@pytest.mark.parametrize(
    ("network", "step", "elsewhere"),
    [("2001:db8:1:{:x}::1", 32, "2001:db8:2::1"), ("203.0.113.{}", 1, "198.51.100.1")],
)
def test_many_addresses_of_one_network_count_as_20_entries_a_minute(
    network: str, step: int, elsewhere: str
) -> None:
    """So they cannot pause entry for everybody."""
    study = make_study()
    left_out = [uncounted_entries(from_address(network.format(number * step)), study) for number in range(80)]
    assert left_out[18:22] == [0, 0, 1, 2] and left_out[-1] == 60
    assert uncounted_entries(from_address(elsewhere), study) == 60


def test_a_larger_network_may_begin_some_times_as_often_as_one_address() -> None:
    study = make_study(entries_per_address=1)

    def refused(network: str, numbers: range) -> list[bool]:
        return [too_many_entries(from_address(network.format(number)), study) for number in numbers]

    assert refused("2001:db8:1:{:x}::1", range(3)) == [False, False, True]  # of one /56
    assert refused("2001:db8:1:{:x}00::1", range(1, 5)) == [False, False, True, True]  # of one /48
    assert refused("203.0.113.{}", range(6)) == [False] * 4 + [True] * 2  # of one /24


def test_those_whose_address_cannot_be_read_are_counted_together() -> None:
    study = make_study(entries_per_address=2)
    hidden = [Client(HTTP_X_FORWARDED_FOR=f"somebody{n}") for n in range(3)]
    assert [begin(one, study).status_code for one in hidden] == [302, 302, 429]


def test_programs_and_staff_neither_begin_a_pause_nor_wait_for_its_end() -> None:
    study = make_study(entries_per_minute=2)
    for number in range(3):
        participant_enter(study_id=study.pk, entry=f"program {number}", synthetic=True)
        study_preview(study_id=study.pk)
    for number in range(2):
        participant_enter(study_id=study.pk, entry=f"person {number}")
    with pytest.raises(EntryPausedError):
        participant_enter(study_id=study.pk, entry="person 2")
    assert participant_enter(study_id=study.pk, entry="person 1").number
    participant_enter(study_id=study.pk, entry="program 3", synthetic=True)
    study_preview(study_id=study.pk)


def test_entries_of_more_than_a_minute_ago_do_not_count() -> None:
    study = make_study(entries_per_minute=2)
    participant_enter(study_id=study.pk, entry="one")
    Participant.objects.update(entered_at=timezone.now() - timedelta(minutes=2))
    participant_enter(study_id=study.pk, entry="two")
    assert not EntryPause.objects.exists()


def test_the_researcher_sees_the_pause_and_can_end_it(admin_client: Client) -> None:
    study = make_study(entries_per_minute=1)
    begin(Client(), study)
    for address in ("/staff/small/", "/staff/small/live/", "/staff/small/entry/"):
        assert "new participants cannot enter" in text_of(admin_client.get(address)).lower()
    assert Client().post("/staff/small/entry/go-on/").status_code == 302
    assert Client().get("/s/small/").status_code == 429
    admin_client.post("/staff/small/entry/go-on/")
    assert Client().get("/s/small/").status_code == 200
    page = text_of(admin_client.get("/staff/small/entry/"))
    assert "Entry is not paused" in page and "<td>admin</td>" in page
    assert Study.objects.get().entry_pauses.count() == 1


@pytest.mark.parametrize(("world", "waits"), [("overcooked", True), ("cuisine", False)])
def test_new_people_wait_while_no_clock_process_has_room_for_their_game(world: str, waits: bool) -> None:
    study, here = make_study(), Client()
    begin(here, study)
    clock = {"layout": "cramped_room", "clock": "tick", "tick_ms": 200, "ticks": 100}
    if world == "overcooked":
        Condition.objects.filter(study=study).update(world=world, settings=clock, teammates=1)
    report_full_clocks()
    page = Client().get("/s/small/")
    assert page.status_code == (429 if waits else 200)
    assert (page.get("Retry-After") == "60") is waits
    assert here.get("/s/small/").status_code == 302  # who is in goes on
    cache.clear()
    assert Client().get("/s/small/").status_code == 200


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # no proxy of ours: anybody can write that
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "1.1.1.1, 198.51.100.1, 127.0.0.1", "198.51.100.1"),
        ("::ffff:127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "nonsense", "None"),
        ("127.0.0.1", "203.0.113.70:99", "203.0.113.70"),
        ("127.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("", "198.51.100.1", "198.51.100.1"),
    ],
)
def test_the_forwarded_address_counts_if_the_proxy_is_ours(
    peer: str, forwarded: str, found: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8")
    settings.TRUSTED_PROXIES = _trusted_proxies()
    said = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR=peer)
    request.META.update(said)
    assert str(client_address(request)) == found


def test_an_ipv6_household_is_one_network() -> None:
    addresses = [client_address(RequestFactory().get("/", REMOTE_ADDR=f"2001:db8::{n}")) for n in (1, 2)]
    assert len({client_network(address) for address in addresses if address}) == 1
