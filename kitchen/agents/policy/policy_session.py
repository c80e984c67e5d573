"""Run the network of a policy file with onnxruntime: one thread, processor only, with a time limit.

onnxruntime is an optional package (`make open`). It is imported only when a network is loaded.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kitchen.agents.policy.policy_card import PolicyFileError

if TYPE_CHECKING:
    from numpy import ndarray

PACKAGE = "onnxruntime"
INSTALL = "Trained policies need the package onnxruntime: the command make open installs it."
OBSERVATION, MASK, LOGITS = "obs", "action_mask", "logits"
STATE_IN, STATE_OUT = "state_in_", "state_out_"
KEPT_SESSIONS = 8
"""Maximum number of loaded networks in one process. One of 16 MiB needs some 20 MB of memory."""
WARM_UP_SECONDS = 2.0
MESSAGE_LENGTH = 300
NUMBERS = {"tensor(float)": "float32", "tensor(uint8)": "uint8"}
"""NumPy's name of each type of input that a network may have."""


class PolicyTimeoutError(TimeoutError):
    """Raised if a network has no answer within its time."""


def is_installed() -> bool:
    """Return whether onnxruntime is installed."""
    return find_spec(PACKAGE) is not None


class PolicySession:
    """A loaded network. It stores nothing between calls."""

    def __init__(self, data: bytes) -> None:
        """Load the network from the bytes of its file, so that it can name no other file. Raises
        PolicyFileError with the code `unreadable` if it cannot be loaded."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no common class
            raise PolicyFileError("unreadable", f"onnxruntime cannot load it: {one_line(error)}") from None
        self.inputs: dict[str, Any] = {one.name: one for one in self._session.get_inputs()}
        self.outputs: dict[str, Any] = {one.name: one for one in self._session.get_outputs()}

    @property
    def states(self) -> list[str]:
        """Return the names of the inputs that hold what a recurrent network remembers, sorted."""
        return sorted(name for name in self.inputs if name.startswith(STATE_IN))

    def first_states(self) -> dict[str, ndarray]:
        """Return the states at the first step: zeros."""
        import numpy

        return {name: numpy.zeros((1, *self.inputs[name].shape[1:]), numpy.float32) for name in self.states}

    def warm_up(self) -> None:
        """Run the network once with zeros, if its inputs have a fixed shape: the first run takes longer."""
        import numpy

        shape, (count,) = self.inputs[OBSERVATION].shape[1:], self.outputs[LOGITS].shape[1:]
        if all(isinstance(size, int) for size in (*shape, count)):
            self.run(numpy.zeros(shape), numpy.ones(count), self.first_states(), WARM_UP_SECONDS)

    def run(
        self, observation: ndarray, mask: ndarray, states: Mapping[str, ndarray], seconds: float
    ) -> tuple[ndarray, dict[str, ndarray]]:
        """Return (logits of shape (n,), the states for the next step by the name of their input).

        Raises PolicyTimeoutError after so many seconds, and onnxruntime's errors.
        """
        import onnxruntime

        dtype = NUMBERS[self.inputs[OBSERVATION].type]
        given = {OBSERVATION: observation.astype(dtype)[None], **states}
        if MASK in self.inputs:
            given[MASK] = mask.astype("float32")[None]
        wanted = [LOGITS, *(STATE_OUT + name.removeprefix(STATE_IN) for name in states)]
        options, is_late = onnxruntime.RunOptions(), threading.Event()

        def stop() -> None:
            is_late.set()
            options.terminate = True

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            logits, *after = self._session.run(wanted, given, options)
        except Exception:
            if is_late.is_set():
                raise PolicyTimeoutError(f"the network has no answer within {seconds:g} s") from None
            raise
        finally:
            timer.cancel()
        return logits[0], dict(zip(states, after, strict=True))


def one_line(error: Exception) -> str:
    """Return an error of onnxruntime as one line of limited length."""
    text = " ".join(str(error).split()) or type(error).__name__
    if any(words in text for words in ("Failed to allocate memory", "bad_alloc")):
        return "it needs too much memory"
    return text if len(text) <= MESSAGE_LENGTH else f"{text[:MESSAGE_LENGTH]}…"


@lru_cache(maxsize=KEPT_SESSIONS)
def policy_session(path: Path) -> PolicySession:
    """Return the network of this file, which never changes. This process loads it once, and forgets the one
    that was used longest ago."""
    return PolicySession(path.read_bytes())
