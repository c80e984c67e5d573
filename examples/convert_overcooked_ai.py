"""Convert a partner that was published with Overcooked-AI into a policy file (ONNX).

    python -m examples.convert_overcooked_ai CHECKPOINT --layout cramped_room --out self_play.onnx

The checkpoints are RLlib's, a pickle within a pickle. HumanCompatibleAI/overcooked_ai 739950a0 has them in
`src/overcooked_demo/server/static/assets/agents/Rllib*/agent/checkpoint-*`.

A pickle can run any program when it is read. So this reader knows no class but its own: it takes arrays of
numbers, and refuses everything else. The network's form follows from the arrays: convolutions, then dense
layers. Only the last convolution has no margin.
"""

from __future__ import annotations

import io
import json
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from brigade.one_line_parser import OneLineParser
from examples.training_arguments import file_problem, layout_problem
from kitchen.registry.world_registry import get_encoding, get_world

ENCODING = "overcooked.lossless_26/1"
CONVOLUTION_SLOPE, DENSE_SLOPE = 0.2, 0.3
"""How steep the leaky ReLUs are below 0."""
MOST_BYTES = 64 * 2**20
WEIGHTS = ("worker", "state", "ppo", "weights")
"""Where the arrays are. The first entry holds the second pickle."""
CODES = {"f4": 4, "f8": 8, "i4": 4, "i8": 8}
"""Bytes of each type of number that may occur."""


class CheckpointError(ValueError):
    """Raised if a file is no checkpoint of this kind. The message is one line."""


class FoundType:
    """A type of numbers, as NumPy writes it: a code, then a state with the order of bytes."""

    def __init__(self, code: object, *_: object) -> None:
        self.code, self.is_little = code, False

    def __setstate__(self, state: object) -> None:
        """Take (version, order of bytes, …)."""
        self.is_little = isinstance(state, tuple) and state[1:2] == ("<",)


class FoundArray:
    """An array of numbers, as NumPy writes it. `array` checks and converts it."""

    def __init__(
        self, data: object, kind: object, shape: object = (), order: object = "C", *_: object
    ) -> None:
        self.data = bytes(data) if isinstance(data, bytearray) else data
        self.kind, self.shape, self.order = kind, shape, order

    def array(self) -> np.ndarray:
        """Return the numbers as float32. Raises CheckpointError if the parts do not fit together."""
        kind, data, shape = self.kind, self.data, self.shape
        code = kind.code if isinstance(kind, FoundType) and kind.is_little else None
        if not isinstance(code, str) or code not in CODES or not isinstance(data, bytes) or self.order != "C":
            raise CheckpointError("an array has an unknown form")
        if not isinstance(shape, tuple) or not all(type(size) is int and 0 < size < 2**20 for size in shape):
            raise CheckpointError("an array has an unknown form")
        if len(data) != CODES[code] * math.prod(shape):
            raise CheckpointError("an array has another size than it says")
        return np.frombuffer(data, f"<{code}").reshape(shape).astype(np.float32)


class Ignored:
    """Replaces everything of RLlib that the network does not need. Calls and states do nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __call__(self, *_: object, **__: object) -> Ignored:
        """Return another one."""
        return Ignored()

    def __setstate__(self, state: object) -> None:
        """Do nothing."""


KNOWN: dict[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): dict,
    ("numpy", "dtype"): FoundType,
    ("numpy.core.numeric", "_frombuffer"): FoundArray,
    ("numpy._core.numeric", "_frombuffer"): FoundArray,
    ("numpy.core.multiarray", "scalar"): lambda kind, data: FoundArray(data, kind),
    ("numpy._core.multiarray", "scalar"): lambda kind, data: FoundArray(data, kind),
}
"""The replacement for each name in a checkpoint. No function of NumPy is called."""
IGNORED = ("gym", "gymnasium", "human_aware_rl", "ray")
"""Packages whose names get `Ignored`. They are never imported."""


class NumbersUnpickler(pickle.Unpickler):
    """Reads a pickle of dictionaries and arrays. It imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """Return this module's own substitute. Raises CheckpointError for any other name."""
        if module.partition(".")[0] in IGNORED:
            return Ignored
        try:
            return KNOWN[module, name]
        except KeyError:
            raise CheckpointError(f"the file names {module}.{name}, which no checkpoint needs") from None


def read_numbers(data: object) -> Any:
    """Return the content of a pickle of numbers. Raises CheckpointError for anything else."""
    if not isinstance(data, bytes | bytearray) or len(data) > MOST_BYTES:
        raise CheckpointError("the file is no checkpoint, or too large")
    try:
        return NumbersUnpickler(io.BytesIO(data)).load()
    except CheckpointError:
        raise
    except Exception as error:  # a damaged pickle raises almost any error
        raise CheckpointError(f"the file cannot be read: {type(error).__name__}") from None


def read_checkpoint(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of a checkpoint by their name, such as `dense/kernel`. Raises CheckpointError."""
    found = read_numbers(data)
    for number, name in enumerate(WEIGHTS):
        if not isinstance(found, dict) or name not in found:
            raise CheckpointError(f"the file has no {name!r}")
        found = read_numbers(found[name]) if number == 0 else found[name]
    if not isinstance(found, dict) or not all(isinstance(one, FoundArray) for one in found.values()):
        raise CheckpointError("the weights are no arrays")
    return {str(name).removeprefix("ppo/"): one.array() for name, one in found.items()}


@dataclass
class OnnxNetwork:
    """A network that grows layer by layer from the observation on."""

    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    last: str = "obs"
    """Name of what the last layer gives."""

    def add(
        self, kind: str, weights: Mapping[str, np.ndarray] | None = None, out: str = "", **more: Any
    ) -> None:
        """Add a layer after the last one."""
        from onnx import helper

        out = out or f"layer{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.last, *(weights or {})], [out], **more))
        self.weights |= weights or {}
        self.last = out


def layers(arrays: Mapping[str, np.ndarray], kind: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (kernel, bias) of each layer of this kind, `conv` or `dense`, in order."""
    found = (name.partition("/kernel")[0] for name in arrays if name.endswith("/kernel"))
    names = [name for name in found if name.startswith(kind)]
    if missing := [name for name in names if f"{name}/bias" not in arrays]:
        raise CheckpointError(f"{missing[0]} has no bias")
    return [(arrays[f"{name}/kernel"], arrays[f"{name}/bias"]) for name in names]


def add_convolutions(network: OnnxNetwork, arrays: Mapping[str, np.ndarray], shape: Sequence[int]) -> int:
    """Add the convolutions, and return how many numbers they give. `shape` is (width, height, layers)."""
    width, height, channels = shape
    found = layers(arrays, "conv")
    network.add("Transpose", perm=[0, 3, 1, 2])
    for number, (kernel, bias) in enumerate(found):
        if kernel.ndim != 4 or kernel.shape[2] != channels or bias.shape != kernel.shape[3:]:
            raise CheckpointError("a convolution does not fit the one before it")
        margin = 0 if number == len(found) - 1 else kernel.shape[0] // 2
        smaller, channels = kernel.shape[0] - 1 - 2 * margin, kernel.shape[3]
        width, height = width - smaller, height - smaller
        weights = {f"k{number}": kernel.transpose(3, 2, 0, 1).copy(), f"c{number}": bias}
        network.add("Conv", weights, pads=[margin] * 4)
        network.add("LeakyRelu", alpha=CONVOLUTION_SLOPE)
    network.add("Transpose", perm=[0, 2, 3, 1])
    network.add("Flatten")
    return width * height * channels


def add_dense(network: OnnxNetwork, arrays: Mapping[str, np.ndarray], size: int, actions: int) -> None:
    """Add the dense layers up to the one that gives a number for each action."""
    for number, (kernel, bias) in enumerate(layers(arrays, "dense")):
        if kernel.ndim != 2 or kernel.shape[0] != size or bias.shape != kernel.shape[1:]:
            raise CheckpointError("the network was not made for this layout, or a dense layer does not fit")
        size, weights = kernel.shape[1], {f"w{number}": kernel, f"b{number}": bias}
        if size == actions:
            network.add("Gemm", weights, "logits")
            return
        network.add("Gemm", weights)
        network.add("LeakyRelu", alpha=DENSE_SLOPE)
    raise CheckpointError(f"no layer has {actions} outputs")


def policy_bytes(arrays: Mapping[str, np.ndarray], layout: str, **words: str) -> bytes:
    """Return the policy file of this network for a layout. `words` are more metadata. Raises CheckpointError
    if they do not fit."""
    from onnx import TensorProto, helper, numpy_helper

    brief = get_world("overcooked").create(seats=2, settings={"layout": layout}).brief(0)
    encoding, network = get_encoding("overcooked", ENCODING), OnnxNetwork()
    shape, actions = encoding.shape(brief), encoding.action_count(brief)
    add_dense(network, arrays, add_convolutions(network, arrays, shape), actions)
    graph = helper.make_graph(
        network.nodes,
        "policy",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["batch", *shape])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", actions])],
        [numpy_helper.from_array(array, name) for name, array in network.weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    metadata = {
        "brigade.encoding": ENCODING,
        "brigade.actions": json.dumps([list(command) for command in encoding.commands(brief, [])]),
        "brigade.settings": json.dumps({"layout": layout, "cooking": "auto"}),
    }
    helper.set_model_props(made, metadata | {name: text for name, text in words.items() if text})
    return bytes(made.SerializeToString())


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert one checkpoint, as the command line says."""
    parser = OneLineParser(description="Convert a published partner into a policy file.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--layout", required=True, help="the layout for which it was trained")
    parser.add_argument("--out", type=Path, required=True, help="the policy file to write")
    parser.add_argument("--author", default="HumanCompatibleAI/overcooked_ai")
    parser.add_argument("--licence", default="MIT")
    asked = parser.parse_args(arguments)
    if why := layout_problem(asked.layout):
        parser.error(f"--{why}")
    if why := file_problem(asked.out):
        parser.error(f"--out: {why}")
    try:
        with asked.checkpoint.open("rb") as file:
            arrays = read_checkpoint(file.read(MOST_BYTES + 1))
        words = {
            "author": asked.author,
            "licence": asked.licence,
            "trained_with": f"RLlib: {asked.checkpoint.name}",
        }
        asked.out.write_bytes(policy_bytes(arrays, asked.layout, **words))
    except (OSError, ValueError) as error:
        parser.error(f"{asked.checkpoint}: {' '.join(str(error).split())}")
    print(f"{asked.out}: {asked.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
