"""Every wrong policy file meets its code, within limits; a right one plays trial games."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from kitchen.agents.policy import trial_games, upload_checks
from kitchen.agents.policy.policy_card import PolicyFileError
from kitchen.agents.policy.policy_session import PolicySession
from kitchen.agents.policy.trial_games import check_and_play
from kitchen.agents.policy.upload_checks import CODES, MAX_BYTES, check_policy, run_apart
from tests.kitchen.agents.policy.onnx_files import (
    BYTE,
    FLOAT,
    METADATA,
    SHAPE,
    bomb,
    endless,
    model,
    policy,
    unhurried_checks,  # noqa: F401
    value,
    with_external_data,
)


def packed() -> bytes:
    """A ZIP archive whose content is a thousand times larger."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("policy.onnx", b"\0" * 10**6)
    return out.getvalue()


def own_operators() -> bytes:
    node = helper.make_node("Anything", ["obs"], ["logits"], domain="com.example")
    return model([node], [value("obs", SHAPE)], [value("logits", (6,))], domains=("", "com.example"))


def unknown_input() -> bytes:
    node = helper.make_node("Identity", ["more"], ["logits"])
    return model([node], [value("obs", SHAPE), value("more", (6,))], [value("logits", (6,))])


def lost_state() -> bytes:
    nodes = [helper.make_node("Identity", ["state_in_0"], ["logits"])]
    return model(nodes, [value("obs", SHAPE), value("state_in_0", (6,))], [value("logits", (6,))])


WRONG: dict[str, list[Callable[[], bytes]]] = {
    "too_large": [lambda: bytes(MAX_BYTES + 1)],
    "unreadable": [
        lambda: b"",
        lambda: b"not a network",
        lambda: policy()[:-900],
        lambda: gzip.compress(bytes(10**6)),
        packed,
        own_operators,
        with_external_data,
        lambda: policy(metadata=METADATA | {"brigade.settings": '{"layout": ["nowhere"]}'}),
    ],
    "no_such_encoding": [
        lambda: policy(metadata={}),
        lambda: policy(metadata={"brigade.encoding": "overcooked.lossless_26/2"}),
    ],
    "wrong_input": [
        lambda: policy(shape=(5, 4, 20)),
        lambda: policy(shape=(4, 5, 26)),
        lambda: policy(shape=(520,)),
        lambda: policy(obs="observation"),
        lambda: policy(kind=11),
        unknown_input,
    ],
    "wrong_output": [
        lambda: policy(actions=5),
        lambda: policy(logits="scores_of_all"),
        lambda: policy(metadata=METADATA | {"brigade.actions": "north south east west stay jump"}),
        lambda: policy(metadata=METADATA | {"brigade.actions": "north north east west stay interact"}),
        lambda: policy(memory=4000),
        lost_state,
    ],
    "not_finite": [lambda: policy(bias=[float("nan")] * 6), lambda: policy(bias=[float("inf")] * 6)],
}


@pytest.mark.parametrize("code", WRONG)
def test_a_wrong_file_is_refused_with_its_code(code: str) -> None:
    for number, made in enumerate(WRONG[code]):
        with pytest.raises(PolicyFileError) as refused:
            check_policy(made())
        assert refused.value.code == code, (number, refused.value.message)
        assert refused.value.message and "\n" not in refused.value.message


def test_the_codes_are_those_of_the_checks() -> None:
    assert list(CODES) == [*WRONG, "too_slow"]


def test_a_network_that_never_ends_or_is_slow_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_checks, "SECONDS", 0.05)
    with pytest.raises(PolicyFileError) as refused:
        check_policy(endless())
    assert refused.value.code == "too_slow"
    monkeypatch.setattr(upload_checks, "SECONDS", 60)
    monkeypatch.setattr(upload_checks, "SLOWEST_MS", 0)
    with pytest.raises(PolicyFileError, match="1 of 100 decisions") as refused:
        check_policy(policy())
    assert refused.value.code == "too_slow"


@pytest.mark.parametrize("kind", [FLOAT, BYTE])
def test_a_right_file_of_either_number_passes(kind: int) -> None:
    checked = check_policy(policy(kind=kind))
    assert (checked.world, checked.settings["layout"]) == ("overcooked", "cramped_room")
    assert checked.card.trained_on == "layout: cramped_room"


def test_the_researcher_describes_a_file_that_does_not_describe_itself() -> None:
    given = {"brigade.encoding": "json/1", "brigade.world": "cuisine", "author": "A. Cook"}
    checked = check_policy(policy((8192,), 64, metadata={}), given)
    assert (checked.world, checked.card.author) == ("cuisine", "A. Cook")
    with pytest.raises(PolicyFileError):
        check_policy(policy(), {"brigade.encoding": "json/1", "brigade.world": "nowhere"})


def test_trial_games_are_played_in_each_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_games, "MOST_STEPS", 3)
    monkeypatch.setattr(trial_games, "run_apart", lambda function, *given, seconds=0.0: function(*given))
    assert check_and_play(policy()).scores == {"itself": 0, "random 0": 0, "random 1": 0}


def test_a_file_that_asks_for_47_gib_is_refused_and_the_next_file_is_checked() -> None:
    data = bomb()
    assert len(data) < 500
    with pytest.raises(PolicyFileError, match="memory") as refused:
        run_apart(check_policy, data)
    assert refused.value.code == "unreadable"
    assert run_apart(np.prod, SHAPE) == 520


def test_a_trial_game_has_time_for_each_decision_and_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[tuple[float, tuple[Any, ...]]]()

    def run(function: Any, *given: Any, seconds: float = 0.0) -> Any:
        calls.append((seconds, given))
        return check_policy(policy())

    monkeypatch.setattr(trial_games, "run_apart", run)
    check_and_play(policy())
    seconds, (folder, *_) = calls[1]
    assert seconds == 8
    assert not Path(folder).exists()


def test_a_long_name_in_a_file_makes_no_long_message() -> None:
    with pytest.raises(PolicyFileError) as refused:
        check_policy(policy(metadata={"brigade.encoding": "x" * 10**6}))
    assert len(str(refused.value)) < 400


def test_weights_are_never_read_from_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights").write_bytes(bytes(10**5))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyFileError, match="External"):
        check_policy(with_external_data("weights"))
    assert PolicySession(policy())
