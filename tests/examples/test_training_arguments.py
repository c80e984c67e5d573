"""Wrong arguments of the examples end them with one line and exit code 2, before any work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from examples import convert_human_data, convert_overcooked_ai, train_imitation, train_ppo, training_arguments

OUT = ("--out", "net.onnx")
TRAIN: tuple[Callable[..., None], ...] = (train_ppo.main, train_imitation.main)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program may learn or play here."""
    monkeypatch.chdir(tmp_path)
    for module, name in ((train_ppo, "Trainer"), (train_imitation, "Lessons")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("the training begins"))


def refusal(capsys: Any, main: Callable[..., None], arguments: Sequence[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = str(capsys.readouterr().err)
    assert (ended.value.code, told.count("\n")) == (2, 1)
    return told


@pytest.mark.parametrize("main", TRAIN)
def test_a_training_that_would_fail_does_not_begin(
    main: Callable[..., None], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "layout: 'nowhere' is not one of" in refusal(capsys, main, [*OUT, "--layout", "nowhere"])
    assert "no folder /nonexist" in refusal(capsys, main, ["--out", "/nonexist/x"])
    assert "--curve: there is no folder" in refusal(capsys, main, [*OUT, "--curve", "/nonexist/x"])
    assert "--steps: -5 is not" in refusal(capsys, main, [*OUT, "--steps", "-5"])
    monkeypatch.setattr(training_arguments, "find_spec", lambda _: None)
    assert "`make open` installs it" in refusal(capsys, main, OUT)


def test_a_file_that_cannot_be_converted_is_told(capsys: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pickle"
    bad.write_bytes(b"\x80\x04.")
    wrong = refusal(capsys, convert_human_data.main, [str(bad), "games.csv"])
    assert "is no pickled table of games" in wrong
    assert "No such file" in refusal(capsys, convert_human_data.main, ["none.pickle", "games.csv"])
    told = refusal(capsys, convert_overcooked_ai.main, ["none", "--layout", "zzz", *OUT])
    assert "layout: 'zzz' is not one of" in told
    assert "No such file" in refusal(
        capsys, convert_overcooked_ai.main, ["none", "--layout", "cramped_room", *OUT]
    )
    assert list(tmp_path.iterdir()) == [bad]
