"""An episode as one file: what is in it, what is not, and which files are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.contract.data_limits import GZIP, MAX_FILE_BYTES, MAX_VALUES
from kitchen.contract.world import canonical_hash, canonical_json
from kitchen.replay.episode_content import (
    EpisodeFileError,
    episode_content,
    gzip_bytes,
    raw_hash_matches,
)
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import EpisodeRecord
from kitchen.replay.step_replay import report_step, seat_page_after
from tests.kitchen.factories import make_episode, mind
from tests.kitchen.replay.test_step_replay import grids, played

pytestmark = pytest.mark.django_db

STARS = {"completed": [1, 2, 3]}


def dispatched() -> EpisodeRecord:
    """Two steps beside a dispatcher's stand-in, which is asked as a model is."""
    minds = (mind("dispatcher", 1),)
    return played(make_episode(minds=minds, seats=2, steps=5, hides_dots=True, star_targets=STARS), 2, "noop")


def test_an_exported_episode_looks_the_same_elsewhere() -> None:
    for record in (dispatched(), played(grids(), 4, "east")):
        opened = read_episode_file(export_episode(record))
        assert export_episode(opened) == export_episode(record)
        assert opened.episode.hides_dots == record.episode.hides_dots
        assert opened.episode.star_targets == record.episode.star_targets
        for steps in (0, 2):
            for seat in (0, 1):
                assert (
                    seat_page_after(opened, seat, steps).layout == seat_page_after(record, seat, steps).layout
                )
            here, there = report_step(record, steps), report_step(opened, steps)
            assert here.commands == there.commands
            sent = [[call.sent for one in page.thoughts for call in one.calls] for page in (here, there)]
            assert sent[0] == sent[1]


def test_an_export_has_requests_and_replies_but_no_keys() -> None:
    record = dispatched()
    (thought,) = report_step(record, 1).thoughts
    assert thought.who == "Robot 2 (seat 1)"
    assert (thought.row.because, thought.why) == ("seat", "")
    thought.row.because = "message"
    assert thought.why == "something was said to it"
    assert thought.calls[0].sent[0][0] == "system"
    assert thought.calls[0].row.reply
    text = export_episode(record).decode()
    assert thought.calls[0].sent[-1][1] in json.loads(text)["texts"].values()
    assert all(seat.key not in text for seat in record.seats)


def test_a_wrong_file_is_refused_with_the_reason() -> None:
    data = export_episode(played(grids(), 3, "east"))
    whole = json.loads(data)
    del whole["hash"]
    wrong = {
        b"PK\x03": "it is not JSON",
        b'{"format": 1}': "it is not an exported episode",
        data.replace(b'"format":1', b'"format":2'): "it is of format 2",
        data.replace(b'"format":1', b'"format":"%s"' % (b"x" * 1_000)): "it is of format x{283}…$",
        data.replace(b'"east"', b'"west"', 1): "it was changed after the export",
        b'{"a":' * 60 + b"1" + b"}" * 60: "it is nested deeper than 50 levels",
        _signed({**whole, "seats": []}): "something is missing or has the wrong form: a seat",
        _signed({**whole, "messages": [{"step": "x"}]}): "something is missing",
        _signed({**whole, "seats": [{}]}): "something is missing or has the wrong form: 'number'",
        _signed(_otherwise(whole, organisation={"x": 1})): "something is missing",
        _signed(_otherwise(whole, gone=[1])): "something is missing",
        _signed(_otherwise(whole, decision_seconds=10**400)): "something is missing",
        _signed({**whole, "steps": whole["steps"][:2]}): "its replay gives another result: its log does not",
        _signed(_otherwise(whole, step=10**15)): "its replay gives another result: its log does not",
        _signed(
            {**whole, "episode": {**whole["episode"], "world": "chess"}}
        ): "its replay gives another result",
        b'{"kind":"brigade episode","format":1,"a":NaN}': "it is not JSON",
        b'{"kind":"brigade episode","format":1,"a":1e999}': "it is not JSON",
    }
    for file, why in wrong.items():
        with pytest.raises(EpisodeFileError, match="^" + why):
            read_episode_file(file)


def _otherwise(whole: dict[str, Any], **episode: object) -> dict[str, object]:
    return {**whole, "episode": {**whole["episode"], **episode}}


def test_a_packed_file_is_opened_too_and_one_that_unpacks_to_very_much_is_not() -> None:
    record = played(grids(), 3, "east")
    assert export_episode(read_episode_file(gzip_bytes(export_episode(record)))) == export_episode(record)
    for file, why in {
        gzip_bytes(b" " * (MAX_FILE_BYTES + 1)): "it has more than 32 MiB",
        gzip_bytes(b"[" + b"1," * MAX_VALUES + b"1]"): "it has more than 1,000,000 values",
        gzip_bytes(b"[" * 100_000): "it is nested deeper than 50 levels",
        gzip_bytes(export_episode(record))[:-20]: "it is not JSON",
        gzip_bytes(b"\xff"): "it is not JSON",
        GZIP + b"no": "it is not JSON",
    }.items():
        with pytest.raises(EpisodeFileError, match="^" + why):
            read_episode_file(file)


def test_the_hash_is_that_of_the_bytes_and_files_of_earlier_versions_are_read_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = export_episode(played(grids(), 2, "east"))
    content = json.loads(data)
    earlier = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    formatted = json.dumps(content, indent=1, sort_keys=True).encode()
    assert raw_hash_matches(data) and not raw_hash_matches(formatted)
    assert not raw_hash_matches(data.replace(b'"east"', b'"west"', 1)) and not raw_hash_matches(data + b"1")
    stated = content.pop("hash")
    assert canonical_hash(content) == stated and data == b'%s,"hash":"%s"}\n' % (
        canonical_json(content)[:-1].encode(),
        stated.encode(),
    )
    assert all(episode_content(file) == content for file in (data, earlier, formatted))
    monkeypatch.setattr("kitchen.replay.episode_content.canonical_hash", None)  # which is slow
    assert episode_content(data) == content


def test_a_replay_that_takes_too_long_is_given_up() -> None:
    data = export_episode(played(grids(), 2, "east"))
    with pytest.raises(EpisodeFileError, match=r"^its replay takes longer than 0 s$"):
        read_episode_file(data, seconds=0)


def test_times_are_restored_to_the_microsecond() -> None:
    record = played(grids(), 1, "east")
    for microsecond in (0, 1, 999, 1000):
        record.steps[0].opened_at = record.steps[0].opened_at.replace(microsecond=microsecond)
        opened = read_episode_file(export_episode(record))
        assert opened.steps[0].opened_at == record.steps[0].opened_at
        assert export_episode(opened) == export_episode(record)


def _signed(content: dict[str, object]) -> bytes:
    return json.dumps({**content, "hash": canonical_hash(content)}).encode()
