"""A small network in NumPy: two hidden layers with ReLU, and Adam. `save_onnx` writes it as a policy file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Arrays = list[np.ndarray]


class SmallNetwork:
    """Maps observations (batch, inputs) to outputs (batch, outputs)."""

    def __init__(self, sizes: Sequence[int], seed: int, last_gain: float = 0.01) -> None:
        """Draw orthogonal weights for layers of these sizes: inputs, hidden, hidden, outputs."""
        random = np.random.default_rng(seed)
        gains = [2**0.5] * (len(sizes) - 2) + [last_gain]
        self.weights = [
            _orthogonal(random, rows, columns) * np.float32(gain)
            for rows, columns, gain in zip(sizes, sizes[1:], gains, strict=False)
        ]
        self.biases = [np.zeros(columns, np.float32) for columns in sizes[1:]]
        self._first = [np.zeros_like(each) for each in self.parameters]
        self._second = [np.zeros_like(each) for each in self.parameters]
        self._steps = 0

    @property
    def parameters(self) -> Arrays:
        """The arrays that training changes."""
        return [*self.weights, *self.biases]

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, Arrays]:
        """Return the outputs, and what each layer got, for `backward`."""
        seen = [inputs]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = seen[-1] @ weight
            hidden += bias
            seen.append(np.maximum(hidden, 0, out=hidden))
        return seen[-1] @ self.weights[-1] + self.biases[-1], seen

    def backward(self, seen: Arrays, slope: np.ndarray) -> Arrays:
        """Return the gradients in the order of `parameters`. `slope` is the gradient of the outputs."""
        weights: Arrays = []
        biases: Arrays = []
        for number in reversed(range(len(self.weights))):
            weights.insert(0, seen[number].T @ slope)
            biases.insert(0, slope.sum(axis=0))
            if number:
                slope = (slope @ self.weights[number].T) * (seen[number] > 0)
        return [*weights, *biases]

    def learn(self, gradients: Arrays, rate: float, longest: float = 0.5) -> None:
        """Carry out one step of Adam. Gradients longer than `longest` are shortened."""
        length = float(np.sqrt(sum(float((each * each).sum()) for each in gradients)))
        shrink = min(1.0, longest / (length + 1e-8))
        self._steps += 1
        scale = rate * (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
        moments = zip(self.parameters, gradients, self._first, self._second, strict=True)
        for parameter, gradient, first, second in moments:
            scaled = gradient * shrink
            first += 0.1 * (scaled - first)
            second += 0.001 * (scaled * scaled - second)
            parameter -= scale * first / (np.sqrt(second) + 1e-8)


def _orthogonal(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    big, small = max(rows, columns), min(rows, columns)
    drawn, triangle = np.linalg.qr(random.normal(size=(big, small)))
    drawn *= np.sign(np.diag(triangle))
    found: np.ndarray = np.ascontiguousarray(drawn if rows >= columns else drawn.T, np.float32)
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return probabilities; each row adds up to 1."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: np.ndarray = shifted / shifted.sum(axis=-1, keepdims=True)
    return found


def draw(random: np.random.Generator, probabilities: np.ndarray) -> np.ndarray:
    """Draw one action per row."""
    reached = probabilities.cumsum(axis=-1)
    found: np.ndarray = (reached < random.random((len(reached), 1)) * reached[:, -1:]).sum(axis=-1)
    return found


def save_onnx(
    path: Path,
    network: SmallNetwork,
    scale: np.ndarray,
    actions: int,
    shape: Sequence[int],
    about: Mapping[str, Any],
) -> None:
    """Write the first `actions` outputs as the logits of a policy file. Inputs are uint8 of this shape, and
    are multiplied by `scale`. `about` is the file's metadata; values that are no text become JSON."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = [scale[:, None] * network.weights[0], *network.weights[1:-1], network.weights[-1][:, :actions]]
    biases = [*network.biases[:-1], network.biases[-1][:actions]]
    nodes = [
        helper.make_node("Cast", ["obs"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["numbers"], ["x0"], axis=1),
    ]
    stored = []
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        is_last = number == len(weights) - 1
        stored += [
            numpy_helper.from_array(np.ascontiguousarray(weight, np.float32), f"w{number}"),
            numpy_helper.from_array(np.ascontiguousarray(bias, np.float32), f"b{number}"),
        ]
        out = "logits" if is_last else f"h{number}"
        nodes.append(helper.make_node("Gemm", [f"x{number}", f"w{number}", f"b{number}"], [out]))
        if not is_last:
            nodes.append(helper.make_node("Relu", [out], [f"x{number + 1}"]))
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("obs", TensorProto.UINT8, ["batch", *shape])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", actions])],
        stored,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in about.items()}
    helper.set_model_props(model, texts)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
