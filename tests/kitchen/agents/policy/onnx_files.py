"""Make small ONNX files with random weights, right ones and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from kitchen.agents.policy import upload_checks
from kitchen.agents.policy.policy_folder import store_copy
from kitchen.agents.policy.upload_checks import described

LOSSLESS = "overcooked.lossless_26/1"
SHAPE = (5, 4, 26)
"""Of cramped_room."""
FLOAT, BYTE = TensorProto.FLOAT, TensorProto.UINT8
METADATA = {"brigade.encoding": LOSSLESS, "brigade.settings": json.dumps({"layout": ["cramped_room"]})}


def value(name: str, shape: Sequence[int | str], kind: int = FLOAT) -> Any:
    """An input or output, with batches of any size."""
    return helper.make_tensor_value_info(name, kind, ["batch", *shape])


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Mapping[str, np.ndarray] | None = None,
    metadata: Mapping[str, str] = METADATA,
    domains: Sequence[str] = ("",),
) -> bytes:
    """The bytes of a file with this network."""
    stored = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "policy", list(inputs), list(outputs), stored)
    operators = [helper.make_opsetid(domain, 17 if not domain else 1) for domain in domains]
    made = helper.make_model(graph, opset_imports=operators, ir_version=8)
    helper.set_model_props(made, dict(metadata))
    return bytes(made.SerializeToString())


def policy(
    shape: Sequence[int] = SHAPE,
    actions: int = 6,
    *,
    kind: int = FLOAT,
    bias: Sequence[float] | None = None,
    seed: int = 1,
    memory: int = 0,
    with_mask: bool = False,
    obs: str = "obs",
    logits: str = "logits",
    metadata: Mapping[str, str] = METADATA,
) -> bytes:
    """A linear network with random weights. With `memory` it is recurrent: its state counts the steps, and
    moves the logits. `bias` replaces what the random weights say."""
    chance, size = np.random.default_rng(seed), int(np.prod(shape))
    scale = 0.1 if bias is None else 0.0
    weights = {
        "w": (scale * chance.standard_normal((size, actions))).astype("f4"),
        "b": np.asarray(bias if bias is not None else np.zeros(actions), "f4"),
        "flat": np.asarray([-1, size], "i8"),
    }
    nodes = [
        helper.make_node("Cast", [obs], ["as_float"], to=FLOAT),
        helper.make_node("Reshape", ["as_float", "flat"], ["row"]),
        helper.make_node("Gemm", ["row", "w", "b"], ["scores"]),
    ]
    inputs, outputs = [value(obs, shape, kind)], [value(logits, (actions,))]
    last = "scores"
    if with_mask:
        inputs.append(value("action_mask", (actions,)))
        nodes.append(helper.make_node("Mul", ["scores", "action_mask"], ["masked"]))
        last = "masked"
    if memory:
        weights |= {
            "one": np.ones(1, "f4"),
            "mix": np.ones((memory, actions), "f4") * np.arange(actions, dtype="f4"),
        }
        inputs.append(value("state_in_0", (memory,)))
        outputs.append(value("state_out_0", (memory,)))
        nodes += [
            helper.make_node("Add", ["state_in_0", "one"], ["state_out_0"]),
            helper.make_node("MatMul", ["state_in_0", "mix"], ["moved"]),
            helper.make_node("Add", [last, "moved"], ["with_memory"]),
        ]
        last = "with_memory"
    nodes.append(helper.make_node("Identity", [last], [logits]))
    return model(nodes, inputs, outputs, weights, metadata)


def stored(data: bytes, name: str = "tried") -> str:
    """Put the file where agents find it, and return its reference. Use the fixture `var`."""
    digest, card = described(data)
    store_copy(digest, data, card.to_json())
    return f"{name}:{digest}"


def bomb() -> bytes:
    """A small file that asks for 47 GiB."""
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["huge"]),
        helper.make_node("ReduceMean", ["huge"], ["mean"], keepdims=0),
        helper.make_node("Flatten", ["obs"], ["row"]),
        helper.make_node("ConstantOfShape", ["wide"], ["w"]),
        helper.make_node("MatMul", ["row", "w"], ["scores"]),
        helper.make_node("Add", ["scores", "mean"], ["logits"]),
    ]
    weights = {"size": np.asarray([47 * 2**28], "i8"), "wide": np.asarray([520, 6], "i8")}
    return model(nodes, [value("obs", SHAPE)], [value("logits", (6,))], weights)


def endless() -> bytes:
    """A network whose loop never ends."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Identity", ["x"], ["y"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("number", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("y", FLOAT, None),
        ],
    )
    nodes = [
        helper.make_node("Reshape", ["obs", "flat"], ["row"]),
        helper.make_node("MatMul", ["row", "w"], ["scores"]),
        helper.make_node("Loop", ["", "yes", "scores"], ["logits"], body=body),
    ]
    weights = {
        "flat": np.asarray([-1, 520], "i8"),
        "w": np.zeros((520, 6), "f4"),
        "yes": np.asarray(True),
    }
    return model(nodes, [value("obs", SHAPE)], [value("logits", (6,))], weights)


def with_external_data(place: str = "../../../../etc/passwd") -> bytes:
    """A network whose weights are in another file of the machine."""
    import onnx

    made = onnx.load_from_string(policy())
    for tensor in made.graph.initializer:
        if tensor.name == "w":
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=place)
    return bytes(made.SerializeToString())


@pytest.fixture(autouse=True)
def unhurried_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the checks of policy files much time, so that no test depends on the speed of the machine. Modules
    import this fixture."""
    monkeypatch.setattr(upload_checks, "SECONDS", 60.0)
    monkeypatch.setattr(upload_checks, "SLOWEST_MS", 10_000.0)
