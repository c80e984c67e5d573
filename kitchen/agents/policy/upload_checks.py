"""Check an uploaded policy file in a process apart, with limits of time and memory.

The checks run in the order of `CODES`. Each refusal has a code and a sentence. A file that passes plays trial
games, alone with itself and beside an agent that plays at random.
"""

from __future__ import annotations

import os
import resource
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from kitchen.agents.policy.agent import states_json
from kitchen.agents.policy.onnx_header import OnnxHeader, OnnxHeaderError, read_onnx_header
from kitchen.agents.policy.policy_card import PolicyCard, PolicyFileError
from kitchen.agents.policy.policy_folder import shape_text, sizes_match
from kitchen.agents.policy.policy_session import (
    LOGITS,
    MASK,
    NUMBERS,
    OBSERVATION,
    STATE_IN,
    STATE_OUT,
    PolicySession,
    PolicyTimeoutError,
    one_line,
)
from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.infra.process_pool import (
    BusyError,
    ChildDiedError,
    ChildLimits,
    ChildMemoryError,
    ChildTimeoutError,
    ProcessPool,
)
from kitchen.registry.world_registry import get_encodings, get_kit, get_world, known_worlds

if TYPE_CHECKING:
    from numpy import ndarray

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MAX_BYTES = 16 * 2**20
"""Maximum bytes of a file."""
MAX_MEMORY = 2 * 2**30
"""Bytes of address space that checking a file may need."""
SECONDS = 5.0
"""Seconds of processor time for a check. A trial game has more, by its number of decisions."""
WALL_FACTOR = 6
"""Seconds of wall time for a second of processor time, on a busy machine."""
WAIT_SECONDS = 120.0
"""Seconds after which the process is killed, which may have to load its code before it begins."""
DECISIONS = 400
SLOWEST_MS = 10.0
"""The 99th percentile of the time of `DECISIONS` decisions must not be above this."""
CODES = {
    "too_large": "The file is too large",
    "unreadable": "The file cannot be read",
    "no_such_encoding": "The file needs an encoding that no world has",
    "wrong_input": "The network's inputs do not fit",
    "wrong_output": "The network's outputs do not fit",
    "not_finite": "The network's numbers are not finite",
    "too_slow": "The network is too slow",
}
"""What each code means, in the order of the checks."""
SEED = 1


@dataclass(frozen=True, slots=True)
class CheckedPolicy:
    """A file that passed the checks."""

    sha256: str
    card: PolicyCard
    world: str
    """The world in which it was tried."""
    settings: Mapping[str, Json]
    """The settings of that world."""
    milliseconds: float
    """The 99th percentile of the processor time of a decision."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """The score of each trial game by its name: `itself`, and `random 0`, where the network has seat 0."""


_pool = ProcessPool(
    lambda: 1, waiting=4, limits=ChildLimits(seconds=WAIT_SECONDS, memory=MAX_MEMORY, nice=10)
)
os.register_at_fork(after_in_child=_pool.forget)


def run_apart(function: Callable[[*Ts], T], *arguments: *Ts, seconds: float = 0.0) -> T:
    """Return `function(*arguments)`, computed in a process with limits. `seconds` of processor time are added
    to `SECONDS`. Raises the function's errors, and PolicyFileError if a limit is reached."""
    try:
        return _pool.submit(limited_call, function, arguments, SECONDS + seconds).result()
    except ChildMemoryError:
        raise PolicyFileError("unreadable", "it needs more than 2 GiB of memory") from None
    except (ChildTimeoutError, ChildDiedError):
        raise PolicyFileError("too_slow", f"it takes more than {SECONDS + seconds:g} seconds") from None
    except (BusyError, OSError):
        raise PolicyFileError("too_slow", "many files are being checked; try again in a minute") from None


def limited_call(function: Callable[..., T], arguments: tuple[Any, ...], seconds: float) -> T:
    """Call the function in a child process. A signal ends the process if it needs more processor time."""
    import onnxruntime  # noqa: F401 - loading it takes no time of the file

    with ended_after(seconds):
        return function(*arguments)


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """End this process if the block needs more than these seconds of processor time, or `WALL_FACTOR` times
    as much wall time."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, WALL_FACTOR * seconds + 1)
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def described(data: bytes, given: Mapping[str, str] | None = None) -> tuple[str, PolicyCard]:
    """Return (SHA-256, description) of a file. `given` is what the researcher adds where the file says
    nothing. Raises PolicyFileError."""
    metadata = {name: text for name, text in (given or {}).items() if text}
    card = PolicyCard.from_metadata({**metadata, **_header(data).metadata})
    return sha256(data).hexdigest(), card


def _header(data: bytes) -> OnnxHeader:
    try:
        header = read_onnx_header(data)
    except OnnxHeaderError as error:
        raise PolicyFileError("unreadable", str(error)) from None
    foreign = sorted(set(header.domains) - {"", "ai.onnx"})
    if foreign:
        raise PolicyFileError(
            "unreadable", f"it uses operators of {foreign[0]!r}; use the default domain only"
        )
    return header


def check_policy(data: bytes, given: Mapping[str, str] | None = None) -> CheckedPolicy:
    """Check a file, and return what it is. `given` is metadata that the file does not have. Raises
    PolicyFileError with a code for the first check that fails."""
    if len(data) > MAX_BYTES:
        raise PolicyFileError("too_large", f"it has more than {MAX_BYTES // 2**20} MiB")
    digest, card = described(data, given)
    with tempfile.TemporaryDirectory() as empty, chdir(empty):  # onnxruntime reads weights from this folder
        network = PolicySession(data)
    world, game, encoding = fitting_games(card, network)[0]
    settings = game.to_dict()["settings"]
    check_inputs(network, encoding, encoding.shape(game.brief(0)))
    check_outputs(network, encoding, card, game)
    return CheckedPolicy(digest, card, world, settings, measured_milliseconds(network, encoding, game))


def fitting_games(card: PolicyCard, network: PolicySession) -> list[tuple[str, World, Encoding]]:
    """Return (world, game, encoding) of the worlds that have the file's encoding, those first whose
    observations have the network's shape. Raises PolicyFileError with `no_such_encoding` if there is none."""
    found, refused = list[tuple[str, World, Encoding]](), list[PolicyFileError]()
    for world in known_worlds() if not card.world else (card.world,):
        if world not in known_worlds():
            raise PolicyFileError("no_such_encoding", f"there is no world {world!r}")
        if encoding := get_encodings(world).get(card.encoding):
            try:
                found += [(world, game, encoding) for game in training_games(world, card)]
            except PolicyFileError as error:  # another world may have such settings
                refused.append(error)
    if not found and refused:
        raise refused[0]
    if not found:
        said = f"it needs {card.encoding!r}" if card.encoding else "it names no encoding (brigade.encoding)"
        raise PolicyFileError("no_such_encoding", said)
    shape = tuple(network.inputs[OBSERVATION].shape[1:]) if OBSERVATION in network.inputs else ()
    sizes = tuple(size if isinstance(size, int) else None for size in shape)
    return sorted(found, key=lambda one: not sizes_match(sizes, one[2].shape(one[1].brief(0))))


def training_games(world: str, card: PolicyCard) -> list[World]:
    """Return new games of this world: with each value of the settings in training, or with the settings of
    the practice and the default ones. Raises PolicyFileError if no value of a setting can be played."""
    kind = get_world(world)
    known = {setting.name for setting in kind.settings}
    base = dict(get_kit(world).practice.settings)
    base.pop(get_kit(world).steps, None)
    trained: dict[str, list[Json]] = {
        name: values if isinstance(values, list) else [values]
        for name, values in card.settings.items()
        if name in known and values != []
    }
    together, _ = _started(world, {**base, **{name: values[0] for name, values in trained.items()}})
    made = [together] if together and trained else []
    for name, values in trained.items():
        alone = [_started(world, {**base, name: value}) for value in values]
        games = [game for game, _ in alone if game]
        if not games and not together:
            raise PolicyFileError("unreadable", f"brigade.settings cannot be played: {alone[0][1]}")
        made += games
    return made + [game for game, _ in (_started(world, base), _started(world, {})) if game]


def _started(world: str, settings: Mapping[str, Json]) -> tuple[World | None, str]:
    """Return (a new game with these settings, an empty text), or (None, why they cannot be played)."""
    kind = get_world(world)
    try:
        game = kind.create(seats=max(kind.min_seats, min(2, kind.max_seats)), settings=settings)
        game.reset(SEED)
    except (ValueError, SettingsError) as error:
        return None, one_line(error)
    return game, ""


def check_inputs(network: PolicySession, encoding: Encoding, shape: tuple[int, ...]) -> None:
    """Raise PolicyFileError with `wrong_input` if an input has a wrong name, shape or type."""
    if OBSERVATION not in network.inputs:
        raise PolicyFileError("wrong_input", f"it has no input {OBSERVATION!r}")
    for name, one in network.inputs.items():
        if name == OBSERVATION:
            _check_batch("wrong_input", name, one.shape, shape)
            if NUMBERS.get(one.type) not in (encoding.dtype, "float32"):
                raise PolicyFileError(
                    "wrong_input",
                    f"{name} has the type {one.type}, and {encoding.dtype} or float32 is needed",
                )
        elif name == MASK or name.startswith(STATE_IN):
            _check_float("wrong_input", name, one.type)
        else:
            raise PolicyFileError("wrong_input", f"it has an unknown input {name!r}")


def check_outputs(network: PolicySession, encoding: Encoding, card: PolicyCard, game: World) -> None:
    """Raise PolicyFileError with `wrong_output` or `wrong_input` if an output or a state has a wrong name,
    shape or type, or if the file's actions are not the encoding's."""
    count = encoding.action_count(game.brief(0))
    if LOGITS not in network.outputs:
        raise PolicyFileError("wrong_output", f"it has no output {LOGITS!r}")
    _check_batch("wrong_output", LOGITS, network.outputs[LOGITS].shape, (count,))
    _check_float("wrong_output", LOGITS, network.outputs[LOGITS].type)
    if MASK in network.inputs:
        _check_batch("wrong_input", MASK, network.inputs[MASK].shape, (count,))
    for name in network.states:
        _check_state(network, name)
    if card.actions:
        card.order(encoding, encoding.commands(game.brief(0), game.legal_actions(0)))


def _check_state(network: PolicySession, name: str) -> None:
    shape = network.inputs[name].shape[1:]
    if not all(isinstance(size, int) and 0 < size <= MAX_BYTES for size in shape):
        raise PolicyFileError("wrong_input", f"{name} has no fixed shape")
    after = STATE_OUT + name.removeprefix(STATE_IN)
    if after not in network.outputs:
        raise PolicyFileError("wrong_output", f"it has no output {after!r}")
    _check_float("wrong_output", after, network.outputs[after].type)


def _check_batch(code: str, name: str, has: list[Any], wanted: tuple[int, ...]) -> None:
    """The first dimension is the batch: 1, or any size."""
    sizes = tuple(size if isinstance(size, int) else None for size in has)
    if not sizes_match(sizes[:1], (1,)) or not sizes_match(sizes[1:], wanted):
        raise PolicyFileError(
            code, f"{name} has the shape {shape_text(sizes)}, and batch x {shape_text(wanted)} is needed"
        )


def _check_float(code: str, name: str, kind: str) -> None:
    if NUMBERS.get(kind) != "float32":
        raise PolicyFileError(code, f"{name} has the type {kind}, and float32 is needed")


def measured_milliseconds(network: PolicySession, encoding: Encoding, game: World) -> float:
    """Return the 99th percentile of the milliseconds of a decision, over `DECISIONS` steps of random play.
    Raises PolicyFileError with `wrong_output`, `not_finite` or `too_slow`."""
    import numpy

    chance, states, spent = Random(SEED), network.first_states(), list[float]()  # noqa: S311
    ends = time.monotonic() + WALL_FACTOR * SECONDS
    for _ in range(DECISIONS):
        if game.has_ended:
            game.reset(SEED)
        brief, legal = game.brief(0), game.legal_actions(0)
        began = time.process_time()  # a busy machine makes no network slow
        observation = encoding.encode(brief, game.observe(0), 0)
        logits, states = _run(network, observation, encoding.mask(brief, legal), states, ends)
        spent.append((time.process_time() - began) * 1000)
        if not numpy.isfinite(logits).all():
            raise PolicyFileError("not_finite", "a logit is no finite number")
        if not all(numpy.isfinite(one).all() for one in states.values()):
            raise PolicyFileError("not_finite", "a state is no finite number")
        if logits.shape != (encoding.action_count(brief),):
            raise PolicyFileError("wrong_output", f"{LOGITS} has {logits.shape} numbers")
        game.step({0: chance.choice(legal)} if legal else {})
    _check_stored(states)
    slow = statistics.quantiles(spent, n=100)[98]
    if slow > SLOWEST_MS:
        raise PolicyFileError("too_slow", f"1 of 100 decisions takes more than {slow:.0f} ms")
    return slow


def _run(
    network: PolicySession, observation: ndarray, mask: ndarray, states: Mapping[str, ndarray], ends: float
) -> tuple[ndarray, dict[str, ndarray]]:
    try:
        return network.run(observation, mask, states, max(ends - time.monotonic(), 0.01))
    except PolicyTimeoutError:
        raise PolicyFileError("too_slow", f"it takes more than {SECONDS:g} seconds") from None
    except Exception as error:  # its errors have no common class
        raise PolicyFileError("unreadable", f"it cannot be run: {one_line(error)}") from None


def _check_stored(states: Mapping[str, ndarray]) -> None:
    try:
        states_json(states)
    except ValueError as error:
        raise PolicyFileError("wrong_output", str(error)) from None
