"""A bad option of a program that plays or measures is one line, and exit 2."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.live import attack, bench, clicks, kills, load, painted, rolling, storage

WRONG = {
    attack: ["--loads=nothing", "--seconds=0", "--database=oracle"],
    kills: [
        "--minutes=nan",
        "--minutes=inf",
        "--minutes=0",
        "--minutes=-1",
        "--kills=0",
        "--load=-1",
        "--victims=nobody",
    ],
    load: ["--soak=nan", "--seconds=-1", "--database=oracle"],
    rolling: ["--every=nan", "--every=inf", "--people=0", "--times=x"],
    storage: ["--faults=none", "--database=oracle"],
    bench: ["--web=-1", "--rows=none"],
    clicks: ["--steps=0", "--steps=x"],
    painted: ["--people=-1", "--steps=0", "--mates=x"],
}
ALL = [(program, option) for program, options in WRONG.items() for option in [*options, "--nonsense"]]


@pytest.mark.parametrize(
    ("program", "option"), ALL, ids=lambda one: one if isinstance(one, str) else one.__name__
)
def test_a_bad_option_is_told_in_one_line(
    program: ModuleType, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.parse([option])  # type: ignore[attr-defined, unused-ignore]
    told = capsys.readouterr()
    assert ended.value.code == 2 and told.err.count("\n") == 1 and not told.out


def test_what_is_right_is_taken() -> None:
    asked = kills.parse(["--minutes", "0.5", "--victims", "web, worker", "--kills", "3"])
    assert (asked.minutes, asked.victims, asked.kills) == (0.5, ["web", "worker"], 3)
