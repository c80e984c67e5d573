"""The replay of an episode: what staff see of any step, here and from a file."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kitchen.contract.data_limits import MAX_FILE_BYTES, MAX_VALUES
from kitchen.infra import foreign_files
from kitchen.infra.process_pool import ChildLimits, ProcessPool
from kitchen.play.models import Episode
from kitchen.replay.episode_content import gzip_bytes
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.episode_timeline import event_steps
from study.design.models import Study
from study.monitor import replay_page
from tests.study.factories import complete, make_study
from tests.study.participation.test_views import field, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(conditions=1)


@pytest.fixture
def address(study: Study, client: Client) -> str:
    """Of the replay of an episode that was played to its end; a viewer looks."""
    complete(study)
    viewer = User.objects.create_user("vera", is_staff=True)
    study.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    return f"/staff/{study.slug}/replay/{Episode.objects.get().key}/"


def file_of(client: Client, address: str) -> bytes:
    content: bytes = client.get(address.rstrip("/") + ".json").content
    return content


def opened(client: Client, data: bytes) -> Any:
    return client.post("/staff/replay/", {"file": SimpleUploadedFile("episode.json", data)})


def test_any_step_is_shown_as_it_was_seen_and_what_came_of_it(client: Client, address: str) -> None:
    first = text_of(client.get(address))
    assert 'data-step="0"' in first
    assert "Then, step 1" in first
    assert "Robot 1 (seat 0), person:" in first
    for go, step in {"forward": 2, "back": 0, "last": 3, "first": 0, "": 1}.items():
        page = text_of(client.get(address, {"step": "1", "go": go}))
        assert (
            f'id="bar" class="bar-step" data-phase="{"choose" if step < 3 else "over"}" data-step="{step}"'
            in page
        )
    assert "After the last step" in text_of(client.get(address, {"step": "999", "seat": "7"}))


def test_nobody_has_a_turn_where_a_clock_took_the_steps(client: Client, address: str) -> None:
    assert "Your turn" in text_of(client.get(address))
    Episode.objects.update(tick_ms=200)
    assert "Your turn" not in text_of(client.get(address))


def test_what_happened_is_jumped_to(client: Client, address: str) -> None:
    kinds = event_steps(next(iter(read_episode_records(Episode.objects.all()))))
    name, steps = next(iter(kinds.items()))
    page = text_of(client.get(address, {"step": "0", "kind": name, "go": "last"}))
    assert f'<option value="{name}" selected>{name} ({len(steps)})</option>' in page
    back = text_of(client.get(address, {"step": "99", "kind": name, "go": "earlier"}))
    assert f"Then, step {steps[-1]}<" in back


def test_only_what_changes_is_sent_with_a_step(client: Client, address: str) -> None:
    part = text_of(client.get(address, {"step": "1", "part": "1"}))
    assert part.startswith('<section class="replay-told"')
    assert "<html" not in part
    assert '<template data-panels><p id="bar"' in part


def test_the_timeline_is_on_the_page_with_its_words_files_and_table(client: Client, address: str) -> None:
    page = text_of(client.get(address))
    assert f'data-chart="{address}timeline.vl.json"' in page
    assert '<p id="timeline-words">3 steps.' in page
    rows = json.loads(client.get(f"{address}timeline.json").content)["rows"]
    table = text_of(client.get(f"{address}timeline.html"))
    assert table.count("<tr>") == len(rows) + 1
    assert rows[-1]["lane"] in table
    assert b"schema/vega-lite" in client.get(f"{address}timeline.vl.json").content
    assert client.get(f"{address}timeline.gif").status_code == 404
    client.logout()
    assert client.get(f"{address}timeline.csv").status_code == 302


def test_the_timeline_of_a_file_stands_in_the_page(client: Client, address: str) -> None:
    page = text_of(opened(client, file_of(client, address)))
    assert 'data-chart="#timeline-spec"' in page
    assert '<script id="timeline-spec" type="application/json">' in page
    assert "timeline.vl.json" not in page


def test_an_episode_of_another_study_is_not_there(client: Client, address: str) -> None:
    key = complete(make_study("other", conditions=1), "two").rounds.get().episode.key  # type: ignore[union-attr]
    assert client.get(address.replace(address.split("/")[-2], str(key))).status_code == 404


def test_a_file_opens_elsewhere_and_nothing_of_it_is_stored(client: Client, address: str) -> None:
    data = file_of(client, address)
    with CaptureQueriesContext(connection) as queries:
        page = text_of(opened(client, data))
    assert not [one for one in queries if not one["sql"].startswith(("SELECT", "SAVEPOINT", "RELEASE"))]
    assert "nothing of it is stored here" in page
    step = client.post("/staff/replay/", {"packed": field(page, "packed"), "step": "2", "part": "1"})
    assert 'data-step="2"' in text_of(step)


def test_a_wrong_file_is_refused_with_the_reason(client: Client, address: str) -> None:
    data = json.loads(file_of(client, address))
    wrong = {b"x": "it is not JSON", json.dumps({**data, "seats": []}).encode(): "its hash is"}
    for file, why in wrong.items():
        answer = opened(client, file)
        assert answer.status_code == 422
        assert f"This file was not opened: {why}" in text_of(answer).replace(
            "it was changed after the export: ", ""
        )
    for packed in ("", "?", "eJwDAAAAAAE="):
        answer = client.post("/staff/replay/", {"packed": packed})
        assert answer.status_code == 422


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        (b"[" + b"1," * MAX_VALUES + b"1]", "it has more than 1,000,000 values."),
        (b" " * (MAX_FILE_BYTES + 1), "it has more than 32 MiB."),
        (b"[" * 100_000, "it is nested deeper than 50 levels."),
    ],
    ids=["wide", "large", "deep"],
)
def test_a_hostile_file_is_refused_with_the_limit_and_the_next_file_is_opened(
    client: Client, address: str, plain: bytes, why: str
) -> None:
    answer = opened(client, gzip_bytes(plain))
    assert answer.status_code == 422 and f"This file was not opened: {why}" in text_of(answer)
    assert "nothing of it is stored here" in text_of(opened(client, file_of(client, address)))


def test_a_file_that_takes_too_long_is_refused(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ProcessPool(lambda: 1, limits=ChildLimits(0.001))
    monkeypatch.setattr(foreign_files, "_pool", pool)
    answer = opened(client, file_of(client, address))
    assert "This file was not opened: it takes longer than 0.001 s to read." in text_of(answer)


def test_a_file_is_replayed_in_another_process(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the check and the replay are made to fail, and the page opens all the same."""

    def fail(*_: object) -> None:
        raise AssertionError("replayed in the server process")

    monkeypatch.setattr(replay_page, "check_content", fail)
    monkeypatch.setattr(replay_page, "replay_context", fail)
    monkeypatch.setattr(replay_page, "frame_after", fail)
    file = file_of(client, address)
    assert "nothing of it is stored here" in text_of(opened(client, file))
    monkeypatch.setattr(foreign_files, "_replay_pool", ProcessPool(lambda: 1, limits=ChildLimits(0.001)))
    assert "This file was not opened: it takes longer than 0.001 s" in text_of(opened(client, file))


def test_a_file_is_checked_and_shown_in_one_call_without_the_file_as_text(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, Any]] = []

    def replay(path: str, content: Any, asked: Any) -> Any:
        calls.append((path, asked))
        return replay_page.file_context(content, asked)

    monkeypatch.setattr(replay_page, "replay_content", replay)
    page = text_of(opened(client, file_of(client, address)))
    client.post("/staff/replay/", {"packed": field(page, "packed"), "step": "2", "part": "1"})
    assert calls == [(replay_page.FILE_CONTEXT, {}), (replay_page.FILE_CONTEXT, {"step": "2", "part": "1"})]


def test_values_that_no_page_can_show_are_a_fault_of_the_file(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise TypeError("no number")

    monkeypatch.setattr(replay_page, "render_replay", fail)
    monkeypatch.setattr(replay_page, "replay_content", lambda path, content, asked: {})
    answer = opened(client, file_of(client, address))
    assert answer.status_code == 422 and "has the wrong form: no number." in text_of(answer)


def test_a_message_without_words_is_told_without_a_colon() -> None:
    rows = [SimpleNamespace(kind="accept", text=""), SimpleNamespace(kind="say", text="Yes.")]
    messages = [{"sender": "Robot 2", "to": ["Robot 1"], "row": row} for row in rows]
    told = render_to_string("study/monitor/replay_told.html", {"told": {"messages": messages}})
    assert "<li>Robot 2 to Robot 1 (accept)</li><li>Robot 2 to Robot 1 (say): Yes.</li>" in told
