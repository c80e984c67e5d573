"""Compare the speed of our Overcooked world with the released program, in ticks per second.

    python -m tests.kitchen.worlds.overcooked.bench_released

The released package is installed from PyPI into a temporary environment. It supports only one setting of
cooking, so both play the recorded episodes with `interact`, in turn. The released program runs
`get_state_transition`, ours `World.step`; both return events. The best round of each counts. Exit code 1:
ours is not `TIMES` as fast. If the package cannot be installed, for example without a network, the program
says so and compares nothing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kitchen.contract.reference_recordings import read_recording_file
from kitchen.worlds.overcooked.reference_traces import TRACES
from tests.kitchen.worlds.overcooked.test_reference_traces import FILE

TIMES = 20
ROUNDS = 5
NEEDED = ("overcooked-ai", "numpy<2", "scipy", "tqdm", "dill", "gym", "gym-notices", "cloudpickle")
THEIR_NAMES = {"counter_circuit": "counter_circuit_o_1order", "counter_circuit_tomato": "counter_circuit"}

PROGRAM = """
import gzip, json, sys, time
from overcooked_ai_py.mdp.overcooked_mdp import Action, Direction, OvercookedGridworld

ACTIONS = {word: getattr(Direction, word.upper()) for word in ("north", "south", "east", "west")}
ACTIONS |= {"stay": Action.STAY, "interact": Action.INTERACT}
names = json.loads(sys.argv[2])
steps, seconds = 0, 0.0
for line in gzip.open(sys.argv[1]):
    trace = json.loads(line)
    if trace["start"] != "interact":
        continue
    game = OvercookedGridworld.from_layout_name(names.get(trace["layout"], trace["layout"]))
    state, points = game.get_standard_start_state(), 0
    turns = [tuple(ACTIONS[word] for word in step["do"]) for step in trace["steps"]]
    begun = time.perf_counter()
    for turn in turns:
        state, told = game.get_state_transition(state, turn)
        points += sum(told["sparse_reward_by_agent"])
    seconds += time.perf_counter() - begun
    steps += len(turns)
    if points != trace["score"]:
        sys.exit(f"{trace['layout']}: {points} points, not {trace['score']}")
print(steps / seconds)
"""


def released(folder: Path) -> Path:
    """Return the path of a Python that has the released package. Raises LookupError, with the reason, if it
    cannot be installed."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install([str(python), "-m", "pip", "install", "-q", "--no-deps", *NEEDED])
    return python


def install(command: Sequence[str]) -> None:
    """Run this command. Raises LookupError, with the last line of its error output, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LookupError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])


def their_speed(python: Path) -> float:
    """Return the ticks per second of the released program."""
    names = str(THEIR_NAMES).replace("'", '"')
    command = [str(python), "-W", "ignore", "-c", PROGRAM, str(FILE), names]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return float(done.stdout.splitlines()[-1])


def main() -> int:
    """Measure both programs in turn. The last line says how many times as fast ours is."""
    lines = [line for line in read_recording_file(FILE) if line.raw["start"] == "interact"]
    traces = [line.parsed(TRACES) for line in lines]
    with TemporaryDirectory(prefix="released-") as folder:
        try:
            python = released(Path(folder))
        except LookupError as error:
            print(f"left out: the released engine cannot be had from PyPI, so nothing is compared: {error}")
            return 0
        theirs, ours = [], []
        for _ in range(ROUNDS):
            theirs.append(their_speed(python))
            ours.append(max(TRACES.speeds(traces, 8)))
            print(f"released {theirs[-1]:.0f}, ours {ours[-1]:.0f} steps/s")
    times = max(ours) / max(theirs)
    print(f"{times:.1f} times")
    return int(times < TIMES)


if __name__ == "__main__":
    sys.exit(main())
