"""Published partners become policy files, without running anything of their pickles."""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from examples.convert_overcooked_ai import CheckpointError, FoundArray, main, policy_bytes, read_checkpoint
from kitchen.agents.policy.policy_session import PolicySession
from kitchen.agents.policy.upload_checks import check_policy
from tests.kitchen.agents.policy.onnx_files import unhurried_checks  # noqa: F401


def arrays(hidden: int = 5, filters: int = 3, cells: int = 6) -> OrderedDict[str, np.ndarray]:
    """Random weights in the published form: three convolutions and dense layers. cramped_room has 3 by 2
    cells inside its margin."""
    chance = np.random.default_rng(1)
    found: OrderedDict[str, np.ndarray] = OrderedDict()
    shapes: dict[str, Sequence[int]] = {
        "conv_initial": (5, 5, 26, filters),
        "conv_0": (3, 3, filters, filters),
        "conv_1": (3, 3, filters, filters),
        "dense": (cells * filters, hidden),
        "dense_1": (hidden, 6),
        "dense_2": (hidden, 1),
    }
    for name, shape in shapes.items():
        found[f"ppo/{name}/kernel"] = chance.standard_normal(shape).astype("f4")
        found[f"ppo/{name}/bias"] = chance.standard_normal(shape[-1]).astype("f4")
    return found


@pytest.fixture
def filters(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An object of a class of RLlib, as checkpoints hold them; the class is gone when they are read."""
    module = ModuleType("ray")
    module.NoFilter = type("NoFilter", (), {"__module__": "ray"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", module)
    return module.NoFilter()


def checkpoint(weights: object, **more: object) -> bytes:
    state = {"state": {"ppo": {"weights": weights, "step": np.int64(3)}}, **more}
    return pickle.dumps({"worker": pickle.dumps(state, 5)})


def test_a_checkpoint_becomes_a_file_that_passes_the_checks(
    filters: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "checkpoint-1", tmp_path / "net.onnx"
    source.write_bytes(checkpoint(arrays(), filters=filters))
    del sys.modules["ray"]
    main([str(source), "--layout", "cramped_room", "--out", str(out)])
    checked = check_policy(out.read_bytes())
    assert (checked.world, checked.card.licence) == ("overcooked", "MIT")
    assert "bytes" in capsys.readouterr().out


def test_the_numbers_are_those_of_the_published_network() -> None:
    weights = arrays()
    found = read_checkpoint(checkpoint(weights))
    seen = np.random.default_rng(2).integers(0, 2, (5, 4, 26))
    logits, _ = PolicySession(policy_bytes(found, "cramped_room")).run(seen, np.ones(6), {}, 5)
    values = seen.astype("f4")
    for name, margin in (("conv_initial", 2), ("conv_0", 1), ("conv_1", 0)):
        kernel, bias = weights[f"ppo/{name}/kernel"], weights[f"ppo/{name}/bias"]
        values = leaky(convolved(values, kernel, margin) + bias, 0.2)
    row = leaky(values.reshape(-1) @ weights["ppo/dense/kernel"] + weights["ppo/dense/bias"], 0.3)
    assert np.allclose(
        logits, row @ weights["ppo/dense_1/kernel"] + weights["ppo/dense_1/bias"], atol=1e-2, rtol=1e-3
    )


def convolved(values: np.ndarray, kernel: np.ndarray, margin: int) -> np.ndarray:
    padded, size = np.pad(values, ((margin, margin), (margin, margin), (0, 0))), kernel.shape[0]
    width, height = (length - size + 1 for length in padded.shape[:2])
    windows = [[padded[x : x + size, y : y + size] for y in range(height)] for x in range(width)]
    return np.asarray(np.einsum("xyabc,abco->xyo", np.array(windows), kernel))


def leaky(values: np.ndarray, slope: float) -> np.ndarray:
    return np.where(values > 0, values, slope * values)


class Runs:
    """A pickle of it calls a function when it is read."""

    def __init__(self, function: Any, *given: object) -> None:
        self.call = function, given

    def __reduce__(self) -> Any:
        return self.call


def test_a_hostile_pickle_is_refused_in_one_line_and_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark, source = tmp_path / "mark", tmp_path / "hostile"
    for hostile in (
        pickle.dumps(Runs(Path.touch, mark)),
        checkpoint(Runs(eval, f"open({str(mark)!r}, 'w')")),
        checkpoint(arrays(), filters=Runs(__import__("os").system, f"touch {mark}")),
    ):
        source.write_bytes(hostile)
        with pytest.raises(SystemExit, match="2"):
            main([str(source), "--layout", "cramped_room", "--out", str(tmp_path / "out.onnx")])
        told = capsys.readouterr().err
        assert "which no checkpoint needs" in told and told.count("\n") == 1
    assert list(tmp_path.iterdir()) == [source]


def test_what_is_no_checkpoint_is_told() -> None:
    for data, why in (
        (b"", "cannot be read"),
        (pickle.dumps([1]), "no 'worker'"),
        (pickle.dumps({"worker": 1}), "no checkpoint"),
        (checkpoint({"ppo/a/kernel": [1]}), "no arrays"),
        (checkpoint({"ppo/a/kernel": np.array(["x"])}), "unknown form|names numpy"),
    ):
        with pytest.raises(CheckpointError, match=why):
            read_checkpoint(data)
    with pytest.raises(CheckpointError, match="unknown form"):
        FoundArray(b"1234", "f4", (1,)).array()
    with pytest.raises(CheckpointError, match="not made for this layout"):
        policy_bytes(read_checkpoint(checkpoint(arrays())), "coordination_ring")
