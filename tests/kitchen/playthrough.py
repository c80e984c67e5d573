"""Write and check playthroughs: a playthrough is an episode of a world as readable text (as in OpenSpiel).

    python -m tests.kitchen.playthrough tests/kitchen/playthroughs/cuisine.txt

The command plays the header and the turns of the file again, and rewrites everything else. Run it when you
have changed a world's behaviour on purpose. Then read the difference, and raise the world's version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kitchen.contract.world import Command, World
from kitchen.registry.world_registry import get_world

FOLDER = Path(__file__).parent / "playthroughs"


def replay(text: str) -> str:
    """Replay a playthrough in the present version of the world, and return the new text."""
    lines = [line.split(": ", 1) for line in text.splitlines() if ": " in line]
    header = {key: json.loads(value) for key, value in lines if key in ("world", "seats", "settings", "seed")}
    turns = [json.loads(value) for key, value in lines if key == "turn"]
    return "\n".join(_render(header, turns)) + "\n"


def _render(header: dict[str, Any], turns: list[dict[str, list[str]]]) -> Iterator[str]:
    world = get_world(header["world"]).create(seats=header["seats"], settings=header["settings"])
    world.reset(header["seed"])
    yield from (f"{key}: {json.dumps(value)}" for key, value in header.items())
    yield f"version: {world.version}"
    for seat in range(world.seats):
        yield from _indented(f"brief {seat}", world.brief(seat))
    yield "\n# Start"
    yield from _state(world)
    for turn in turns:
        yield f"\n# Step {world.clock + 1}"
        yield f"turn: {json.dumps(turn)}"
        for event in world.step({int(seat): tuple(command) for seat, command in turn.items()}):
            yield f"event {json.dumps(event.to_json())}"
        yield from _state(world)
    yield f"\nscore {json.dumps(world.score())}"


def _state(world: World) -> Iterator[str]:
    yield f"hash {world.state_hash()}"
    for seat in range(world.seats):
        yield from _indented(f"seat {seat} sees", world.observe(seat))
        yield f"seat {seat} may {_commands(world.legal_actions(seat))}"
        yield f"seat {seat} could later {_commands(world.anticipated_actions(seat))}"
    yield f"over {world.over}, cut off {world.cut_off}"


def _indented(title: str, value: dict[str, Any]) -> Iterator[str]:
    yield title
    yield from (f"    {key} = {json.dumps(each)}" for key, each in value.items())


def _commands(commands: list[Command]) -> str:
    return " | ".join(" ".join(command) for command in commands) or "nothing"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(replay(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
