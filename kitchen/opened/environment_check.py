"""Check that an environment plays the same again, before it is registered as a world.

Two processes with other `PYTHONHASHSEED`s play the same 100 steps. An environment is refused if their digests
differ, or if it uses the global generators of `random` or `numpy.random`, which no seed of an episode sets.
A check that was passed is remembered until the adapter, Python or a package that the environment has loaded
changes.

`python -m kitchen.opened.environment_check package.module:KIT` is one of the two processes. It prints JSON.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from kitchen.contract.world_errors import WorldError
from kitchen.opened.environment_world import EnvironmentWorld
from kitchen.registry.dotted_paths import load_path

CHECKED_STEPS = 100
CHECK_SECONDS = 120.0
"""Seconds that one of the two processes may take."""
HASH_SEEDS = ("1", "4242")
DIFFERENT = "{name}: two processes with one seed and the same actions differ after step {step}"
TOUCHED = "{name}: it uses the global generator of {module}, which the seed of an episode does not set"
OTHER_NAME = "{name}: its adapter calls it {kind}; use this name"
FAILED = "{name}: it cannot be played: {why}"


@dataclass(frozen=True, slots=True)
class CheckedPlay:
    """What one process saw."""

    digests: tuple[str, ...]
    """The digest after each step; the first one is that of the reset."""
    touched: str
    """The module whose global generator the environment used. Empty: none."""
    step_ms: float
    """Milliseconds of processor time for one step (`EnvironmentAdapter.replay_ms`)."""
    frame_ms: float
    frame_bytes: int
    packages: dict[str, str]
    """The versions of the installed packages that were loaded, by name: also that of the environment."""


def play_steps(path: str) -> CheckedPlay:
    """Play the steps of the check in this process. `path` is that of the kit. Raises an error of the
    environment."""
    rules: type[EnvironmentWorld] = load_path(path).rules()
    world = rules.create(seats=rules.max_seats, settings={})
    world.reset(1)
    world.prepare()  # imports what the environment needs
    before, chance, digests = _generators(), random.Random(1), list[str]()  # noqa: S311 - not for secrets
    seed, began = 1, time.process_time()
    world.reset(seed)
    while len(digests) <= CHECKED_STEPS:
        digests.append(world.digest)
        if world.over:
            seed += 1
            world.reset(seed)
        commands = {seat: chance.choice(world.legal_actions(seat)) for seat in range(world.seats)}
        world.step(commands)
    step_ms = 1000 * (time.process_time() - began) / len(digests)
    world.frame()  # imports what drawing needs
    drawn = time.process_time()
    frame = world.frame()
    frame_ms = 1000 * (time.process_time() - drawn)
    touched = next((name for name, state in _generators().items() if state != before[name]), "")
    figures = round(step_ms, 2), round(frame_ms, 2), len(frame)
    return CheckedPlay(tuple(digests), touched, *figures, _loaded_packages())


def _loaded_packages() -> dict[str, str]:
    """Return the versions of the installed packages of which this process has loaded a module."""
    owners = packages_distributions()
    loaded = {module.partition(".")[0] for module in sys.modules}
    return {package: _version(package) for module in sorted(loaded) for package in owners.get(module, ())}


def _generators() -> dict[str, str]:
    """Return the states of the global generators as text, by module."""
    import numpy

    return {"random": repr(random.getstate()), "numpy.random": repr(numpy.random.get_state(legacy=False))}


def check_environment(name: str, path: str) -> tuple[str, CheckedPlay | None]:
    """Play the steps in two processes. Return why the environment is refused as one line, empty if it is
    not, and what the first process saw."""
    children = [_start(path, seed) for seed in HASH_SEEDS]
    try:
        return _compared(name, children)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.communicate()


def _compared(name: str, children: list[subprocess.Popen[str]]) -> tuple[str, CheckedPlay | None]:
    plays = []
    for child in children:
        try:
            said, failed = child.communicate(timeout=CHECK_SECONDS)
        except subprocess.TimeoutExpired:
            return FAILED.format(name=name, why=f"it needs more than {CHECK_SECONDS:g} s"), None
        if child.returncode:
            lines = failed.strip().splitlines()
            return FAILED.format(name=name, why=lines[-1] if lines else "its process ended"), None
        found = json.loads(said.splitlines()[-1])
        plays.append(CheckedPlay(**{**found, "digests": tuple(found["digests"])}))
    return _difference(name, plays), plays[0]


def _difference(name: str, plays: list[CheckedPlay]) -> str:
    one, other = plays
    if touched := one.touched or other.touched:
        return TOUCHED.format(name=name, module=touched)
    pairs = enumerate(zip(one.digests, other.digests, strict=True))
    differs = next((step for step, (this, that) in pairs if this != that), None)
    return "" if differs is None else DIFFERENT.format(name=name, step=differs)


def _start(path: str, hash_seed: str) -> subprocess.Popen[str]:
    found = os.pathsep.join(each or "." for each in sys.path)
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", "-m", "kitchen.opened.environment_check", path],
        env={**os.environ, "PYTHONPATH": found, "PYTHONHASHSEED": hash_seed},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def registration_refusal(
    name: str,
    path: str,
    passed: Path,
    check: Callable[[str, str], tuple[str, CheckedPlay | None]] = check_environment,
) -> str:
    """Return why this environment cannot be registered, as one line. Empty if it can. `passed` is the folder
    that remembers passed checks."""
    if (kind := load_path(path).rules().kind) != name:
        return OTHER_NAME.format(name=name, kind=kind)
    remembered = passed / f"{name}-{_fingerprint(path)}"
    if _is_valid(remembered):
        return ""
    refusal, play = check(name, path)
    if play and not refusal:
        passed.mkdir(parents=True, exist_ok=True)
        remembered.write_text(json.dumps(play.packages))
    return refusal


def _is_valid(remembered: Path) -> bool:
    """Return whether a check was passed, and all packages that were loaded still have the same version."""
    try:
        packages = json.loads(remembered.read_text())
    except (OSError, ValueError):
        return False
    return all(_version(package) == known for package, known in packages.items())


def _fingerprint(path: str) -> str:
    """Return a hash of the adapter: its file, its version, and that of Python."""
    module = import_module(path.partition(":")[0])
    adapter = load_path(path).rules().adapter
    files = {str(module.__file__), sys.modules[adapter.make.__module__].__file__ or ""}
    texts = [Path(file).read_bytes() for file in sorted(files) if file]
    facts = [path, adapter.kind, str(adapter.version), sys.version]
    return sha256(b"\x1f".join([*texts, *(fact.encode() for fact in facts)])).hexdigest()[:20]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main(path: str) -> int:
    """Play the steps and print what was seen, as JSON. Return the exit code. An error is printed as one
    line."""
    try:
        print(json.dumps(asdict(play_steps(path))))
    except WorldError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
