"""Signs of life, and the outages that whoever comes next writes down."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Never

import pytest
from django.db import OperationalError

from kitchen.infra.append_only import unguarded_tables
from kitchen.uptime import heartbeat as beats
from kitchen.uptime.heartbeat import Heartbeat, is_heartbeat_due, last_heartbeats, record_heartbeat
from kitchen.uptime.models import Outage, Part, Sign
from kitchen.uptime.outage_queries import deadline_counts, lost_seconds, recent_outages
from tests.kitchen.uptime.clocks import Clocks, another, elsewhere, run_by

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """Those by which everything here happens."""
    found = Clocks()
    monkeypatch.setattr("kitchen.uptime.outage_queries.current_moment", found)
    return found


def found() -> list[tuple[str, float]]:
    """What was recorded: the part, and its seconds."""
    return [(one.part, round((one.until - one.since).total_seconds())) for one in Outage.objects.all()]


def live(part: str, clocks: Clocks, seconds: float) -> None:
    """A part gives its signs for so long."""
    for _ in range(int(seconds / 2)):
        clocks.pass_by(2)
        record_heartbeat(part, now=clocks)


def test_who_lives_writes_one_row_over_and_over(clocks: Clocks) -> None:
    live("web", clocks, 60)
    assert found() == []
    assert {one.part for one in Sign.objects.all()} == {"web", "redis"}


def test_whoever_comes_after_a_gap_records_it_once(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.pass_by(10)
    record_heartbeat("web", now=clocks)
    record_heartbeat("web", now=clocks)
    assert found() == [("web", 10)]


def test_a_sign_that_was_lost_is_no_outage(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.pass_by(5)
    record_heartbeat("web", now=clocks)
    assert found() == []


def test_on_one_machine_a_short_outage_is_seen_by_the_processes_that_have_ended(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    run_by("web", another(), another(2))
    clocks.pass_by(3)
    record_heartbeat("web", now=clocks)
    assert found() == [("web", 3)]


@pytest.mark.parametrize("left", [elsewhere, another])
def test_a_part_is_away_only_when_none_of_its_kind_lives(left: Callable[[], str], clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    own = last_heartbeats()["web"].processes
    run_by("web", another(), *own, left())
    clocks.pass_by(3)
    record_heartbeat("web", now=clocks)
    assert found() == []


def test_of_many_processes_one_gives_the_sign(clocks: Clocks) -> None:
    assert is_heartbeat_due(last_heartbeats(), "web", clocks())
    record_heartbeat("web", now=clocks)
    clocks.pass_by(1)
    assert not is_heartbeat_due(last_heartbeats(), "web", clocks())
    assert is_heartbeat_due(last_heartbeats(), "workers", clocks())
    clocks.pass_by(1)
    assert is_heartbeat_due(last_heartbeats(), "web", clocks())


def test_processes_that_have_ended_are_forgotten(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    run_by("web", another(), elsewhere())
    record_heartbeat("web", now=clocks)
    names = last_heartbeats()["web"].processes
    assert len(names) == 2 and another() not in names


def test_redis_is_away_when_others_live_and_it_does_not_answer(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    for _ in range(5):
        clocks.pass_by(2)
        record_heartbeat("web", now=clocks, redis_answers=False)
    assert [one.what for one in recent_outages()] == ["Redis"]
    record_heartbeat("web", now=clocks)
    record_heartbeat("workers", now=clocks)
    assert found() == [("redis", 10)]


def test_redis_is_not_blamed_when_nobody_was_there_to_ask_it(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.pass_by(30)
    record_heartbeat("web", now=clocks)
    assert found() == [("web", 30)]


def test_who_lived_while_the_database_was_away_names_it(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, worker = (Heartbeat(part, redis_answers=lambda: True, now=clocks) for part in ("web", "workers"))
    web.once()
    worker.once()
    with monkeypatch.context() as patch:
        patch.setattr(beats, "last_heartbeats", _away)
        patch.setattr(beats, "record_heartbeat", _away)
        for _ in range(2):
            clocks.pass_by(2)
            web.once()
            worker.once()
    clocks.pass_by(2)
    web.once()
    worker.once()
    web.once()
    assert found() == [("database", 6)]


def test_a_database_that_hangs_is_named_by_who_waited_for_it(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = Heartbeat("web", redis_answers=lambda: True, now=clocks)
    web.once()

    def slowly() -> dict[str, Sign]:
        clocks.pass_by(10)
        return last_heartbeats()

    clocks.pass_by(2)
    monkeypatch.setattr(beats, "last_heartbeats", slowly)
    web.once()
    assert found() == [("database", 12)]


def _away(*_: object, **__: object) -> Never:
    raise OperationalError("database is locked")


def test_an_outage_is_never_changed_by_anybody() -> None:
    assert unguarded_tables() == []


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_a_clock_that_is_set_is_told_and_is_no_outage(seconds: float, clocks: Clocks) -> None:
    live("web", clocks, 4)
    live("workers", clocks, 2)
    clocks.pass_by(1)
    clocks.set(seconds)
    assert is_heartbeat_due(last_heartbeats(), "web", clocks())
    assert not deadline_counts(clocks().at - timedelta(seconds=1))
    (
        record_heartbeat("web", now=clocks),
        record_heartbeat("workers", now=clocks),
        record_heartbeat("web", now=clocks),
    )
    (told,) = Outage.objects.all()
    assert (told.part, told.note) == ("clock", f"set {'forward' if seconds > 0 else 'back'} by 3600 s")
    assert deadline_counts(clocks().at - timedelta(seconds=1))
    live("web", clocks, 10)
    assert Outage.objects.count() == 1


def test_who_comes_after_an_outage_in_which_the_clock_was_set_tells_both(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.pass_by(10)
    clocks.set(3600)
    record_heartbeat("web", now=clocks)
    assert {one.part: one.note for one in Outage.objects.all()} == {
        "clock": "set forward by 3600 s",
        "web": "",
    }
    assert ("web", 10) in found()


def test_over_a_new_start_of_the_machine_the_clock_is_believed_and_that_is_said(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.pass_by(60)
    clocks.start_anew()
    record_heartbeat("web", now=clocks)
    assert found() == [("web", 60)]
    assert "two machines" in Outage.objects.get().note


def test_a_clock_that_is_behind_after_a_new_start_makes_an_outage_of_unknown_length(clocks: Clocks) -> None:
    record_heartbeat("web", now=clocks)
    clocks.set(-3600)
    clocks.start_anew()
    record_heartbeat("web", now=clocks)
    record_heartbeat("web", now=clocks)
    assert found() == [("web", 0)]
    assert "not known" in Outage.objects.get().note


def test_pages_and_workers_that_were_away_together_are_the_whole_installation(clocks: Clocks) -> None:
    live("web", clocks, 2)
    live("workers", clocks, 2)
    clocks.pass_by(20)
    record_heartbeat("workers", now=clocks)
    clocks.pass_by(1)
    (now,) = [one for one in recent_outages() if one.until is None]
    assert now.what == "the whole installation"
    record_heartbeat("web", now=clocks)
    (told,) = recent_outages()
    assert (told.what, round(told.seconds or 0)) == ("the whole installation", 23)
    assert sorted(found()) == [("web", 23), ("workers", 20)]


def test_time_is_lost_once_however_much_was_away(clocks: Clocks) -> None:
    begin = clocks().at
    record_heartbeat("web", now=clocks), record_heartbeat("workers", now=clocks)
    clocks.pass_by(20)
    assert lost_seconds(begin, clocks().at) == 20
    record_heartbeat("web", now=clocks), record_heartbeat("workers", now=clocks)
    clocks.pass_by(5)
    assert lost_seconds(begin, clocks().at) == 20
    assert lost_seconds(begin + timedelta(seconds=15), clocks().at) == 5


def test_a_deadline_counts_only_if_the_pages_were_there(clocks: Clocks) -> None:
    assert deadline_counts(clocks().at)  # nobody ever gave a sign: nothing is known
    record_heartbeat("web", now=clocks)
    clocks.pass_by(1)
    assert deadline_counts(clocks().at)
    run_by("web", another())
    assert not deadline_counts(clocks().at)
    run_by("web", elsewhere())
    assert not deadline_counts(clocks().at)  # it may have ended a moment ago
    assert deadline_counts(clocks().at - timedelta(seconds=1))


def test_what_is_not_known_by_name_is_away_after_some_silence(clocks: Clocks) -> None:
    record_heartbeat(Part.WORKERS, now=clocks)
    run_by("workers", elsewhere())
    clocks.pass_by(5)
    assert recent_outages() == []
    clocks.pass_by(2)
    assert [one.what for one in recent_outages()] == ["the workers of co-players"]
