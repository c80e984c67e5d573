"""Is everything well? The page, and the command that says the same."""

from __future__ import annotations

import io
import shutil
from collections import namedtuple
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from kitchen.infra.file_writing import record_backup
from kitchen.infra.task_broker import QueueStatus, WorkerHealth
from kitchen.play.episode.play_monitoring import PlayPace, RecentFaults
from kitchen.realtime.realtime_storage import ClockTotals
from kitchen.uptime.heartbeat import record_heartbeat
from kitchen.uptime.models import Outage
from study.operation import installation_status, status_checks
from study.operation.status_checks import (
    BROKEN,
    LOOK,
    WELL,
    BrokerState,
    StatusLine,
    format_seconds,
    format_size,
    status_summary,
    worst_state,
)
from tests.kitchen.uptime.clocks import Clocks, another, run_by

pytestmark = pytest.mark.django_db

DISK = namedtuple("DISK", ["total", "used", "free"])
QUEUES = {"people": QueueStatus(0, 0.0), "experiments": QueueStatus(3, 99.0)}
THERE = BrokerState(0.001, "", QUEUES, WorkerHealth(workers=2, experimenters=1))


@pytest.fixture(autouse=True)
def there(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that is well."""
    settings.VAR_DIR, settings.LOG_DIR = tmp_path, tmp_path / "log"
    record_backup(tmp_path, datetime.now(UTC))
    monkeypatch.setattr(status_checks, "ask_broker", lambda: THERE)
    monkeypatch.setattr(
        shutil,
        "disk_usage",
        lambda _: DISK(10**12, 0, 10**12),
    )


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_user("ada", is_staff=True))
    return client


def states() -> dict[str, str]:
    return {line.name: line.state for line in installation_status.installation_lines() if line.state != WELL}


@pytest.mark.servers
@pytest.mark.sqlite
def test_all_is_looked_at_and_well() -> None:
    lines = installation_status.installation_lines()
    assert [line.name for line in lines] == list(installation_status.CHECKS)
    assert {line.state for line in lines} == {WELL}
    assert not any(line.do for line in lines)
    assert status_summary(lines) == "Everything is well."


def test_without_redis_and_workers_all_else_is_told(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.undo()
    settings.REDIS_URL = "unix:///nowhere.sock?db=0"
    found = states()
    assert found["Redis"] == BROKEN
    assert found["Queue"] == found["Workers of people's co-players"] == LOOK
    assert found.keys() <= {
        "Redis",
        "Queue",
        "Disk",
        "Backup",
        *(name for name in found if "Workers" in name),
    }


@pytest.mark.parametrize(
    ("line", "broker", "state"),
    [
        (status_checks.redis, BrokerState(0.5), LOOK),
        (status_checks.people_workers, BrokerState(0.1, "", QUEUES, WorkerHealth(workers=0)), BROKEN),
        (status_checks.experiment_workers, BrokerState(0.1, "", QUEUES, WorkerHealth(experimenters=0)), LOOK),
        (status_checks.queue, BrokerState(0.1, "", {"people": QueueStatus(1, 6.0)}), LOOK),
        (status_checks.queue, BrokerState(0.1, "", {"people": QueueStatus(9, 31.0)}), BROKEN),
    ],
)
def test_what_workers_lack_has_its_word(line: Any, broker: BrokerState, state: str) -> None:
    found = line(broker)
    assert (found.state, bool(found.do)) == (state, True)


@pytest.mark.parametrize(
    ("where", "found", "line", "state"),
    [
        ("count_late_turns", 2, status_checks.stuck, BROKEN),
        ("clock_totals", ClockTotals(3, 1, 90, 0), status_checks.clocks, BROKEN),
        ("clock_totals", ClockTotals(3, 0, 90, 9), status_checks.clocks, LOOK),
        ("clock_totals", ClockTotals(3, 0, 900, 9), status_checks.clocks, WELL),
        ("clock_totals", ClockTotals(0, 0, 0, 0), status_checks.clocks, WELL),
        ("recent_pace", PlayPace(9, False, 0.5, 1.5), status_checks.steps, LOOK),
        ("recent_faults", RecentFaults(9, 2, 9, 2), status_checks.coplayers, WELL),
        ("recent_faults", RecentFaults(9, 3, 9, 0), status_checks.coplayers, LOOK),
        ("recent_faults", RecentFaults(9, 0, 9, 8), status_checks.coplayers, BROKEN),
        ("paused_models", ("anthropic:claude-sonnet-5-5",), status_checks.coplayers, BROKEN),
        ("budgets_nearly_spent", 1, status_checks.money, LOOK),
    ],
)
def test_how_play_goes_has_its_word(
    where: str, found: Any, line: Any, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_checks, where, lambda *_: found)
    said = line()
    assert (said.state, bool(said.do)) == (state, state != WELL)


def test_outages_are_told_now_and_for_some_days() -> None:
    assert (status_checks.outages().state, status_checks.outages().means) == (
        WELL,
        "None in the last seven days.",
    )
    now = timezone.now()
    Outage.objects.create(part="web", since=now - timedelta(hours=3), until=now - timedelta(hours=2))
    assert status_checks.outages().state == WELL and "1 outage" in status_checks.outages().means
    Outage.objects.create(part="redis", since=now - timedelta(minutes=3), until=now - timedelta(minutes=2))
    assert status_checks.outages().state == LOOK
    clocks = Clocks(seconds_ago=8)
    record_heartbeat("web", now=clocks)
    run_by("web", another())
    assert status_checks.outages().state == BROKEN


@pytest.mark.parametrize(("free", "state"), [(0.5, WELL), (0.09, LOOK), (0.01, BROKEN)])
def test_a_disk_is_told_before_it_is_full(free: float, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = DISK(10**12, 0, int(free * 10**12))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert status_checks.disk().state == state


def test_a_backup_is_known_if_somebody_noted_it(settings: Any, tmp_path: Path) -> None:
    record_backup(tmp_path, datetime(2026, 11, 1, 12, 30, tzinfo=UTC))
    assert status_checks.backup().state == LOOK
    record_backup(tmp_path, datetime.now(UTC) - timedelta(days=6))
    assert status_checks.backup().state == WELL
    (tmp_path / "last-backup").write_text("yesterday")
    assert "No backup is known" in status_checks.backup().means
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "brigade-20261122T080000Z.tar").touch()
    assert status_checks.backup().state == WELL


def test_migrations_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_checks, "missing_migrations", lambda: ["study 0099_later", "study 0100_last"])
    line = status_checks.migrations()
    assert (line.state, "study 0099_later" in line.means) == (BROKEN, True)


def test_without_a_database_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    away = raises(OperationalError("password of the database"))
    monkeypatch.setitem(installation_status.CHECKS, "Database", ("machine", away))
    lines = {line.name: line for line in installation_status.installation_lines()}
    assert lines["Database"].state == BROKEN
    assert "password" not in str(lines)
    needing = {name for name, (needed, _) in installation_status.CHECKS.items() if needed == "database"}
    assert {lines[name].state for name in needing} == {LOOK}
    assert lines["Redis"].state == lines["Disk"].state == WELL


def test_what_cannot_be_looked_at_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(installation_status.CHECKS, "Disk", ("machine", raises(PermissionError("no"))))
    assert states() == {"Disk": LOOK}


def raises(error: Exception) -> Any:
    def look() -> Iterator[StatusLine]:
        raise error

    return look


def test_the_page_is_for_all_staff(client: Client, staff: Client) -> None:
    page = staff.get("/staff/well/")
    assert page.status_code == 200
    assert "Everything is well." in page.content.decode()
    assert Client().get("/staff/well/").status_code == 302
    assert 'href="/staff/well/"' in staff.get("/staff/").content.decode()


def test_the_console_leads_to_the_documentation_if_it_was_built(staff: Client, settings: Any) -> None:
    for built, shown in (("", False), ("documentation/docs/index.html", True)):
        settings.DOCUMENTATION = built
        page = staff.get("/staff/well/").content.decode()
        assert ('<a href="/static/documentation/docs/index.html">Documentation</a>' in page) is shown


def test_an_open_page_looks_again_and_is_read_aloud_only_if_something_changed(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = staff.get("/staff/well/", {"said": "Everything is well."}).content.decode()
    assert again.startswith('<div id="well" hx-get="/staff/well/?said=Everything%20is%20well."')
    assert "well-summary" not in again
    monkeypatch.setattr(status_checks, "count_late_turns", lambda: 1)
    changed = staff.get("/staff/well/", {"said": "Everything is well."}).content.decode()
    assert 'id="well-summary" hx-swap-oob="true">Something is broken: Waiting.' in changed


def test_the_command_says_the_same_and_its_exit_code_too(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    call_command("well", stdout=out)
    assert out.getvalue().endswith("Everything is well.\n")
    assert "well    Redis: It answers within 1 ms.\n" in out.getvalue()
    monkeypatch.setattr(status_checks, "count_late_turns", lambda: 1)
    with pytest.raises(CommandError, match="Something is broken: Waiting"):
        call_command("well", stdout=io.StringIO())


def test_words() -> None:
    lines = [StatusLine(BROKEN, "", name="Redis"), StatusLine(LOOK, "", name="Clock")]
    assert (worst_state(lines), worst_state(lines[1:]), worst_state([])) == (BROKEN, LOOK, WELL)
    assert status_summary(lines) == "Something is broken: Redis. Look at these, too: Clock."
    assert [format_seconds(one) for one in (0.0123, 3.42, 130)] == ["12 ms", "3.4 s", "2 minutes"]
    assert [format_size(one) for one in (12, 3456, 2.5e9, 3e15)] == [
        "12 bytes",
        "3.46 kB",
        "2.5 GB",
        "3e+03 TB",
    ]
