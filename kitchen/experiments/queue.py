"""What experiments ask of workers. What the broker did not take, `pick_up_experiments` asks for again."""

from __future__ import annotations

from kitchen.machine.broker import task_send

EXPERIMENT_LANE = "kitchen.experiment_lane"
PICK_UP_EXPERIMENTS = "kitchen.pick_up_experiments"
"""Names of the tasks; `settings.CELERY_TASK_ROUTES` gives them a queue of their own."""


def ask_lanes(experiment_id: int, number: int = 1, expires: float | None = None) -> bool:
    """Queue the playing of so many episodes, forgotten if nobody has begun them after `expires` seconds;
    whether the broker took them."""
    waits = f"experiment {experiment_id} waits"
    lanes = (
        task_send(EXPERIMENT_LANE, experiment_id, otherwise=waits, expires=expires) for _ in range(number)
    )
    return all(lanes)


def ask_look(expires: float) -> None:
    """Queue a look for experiments that could play more at once."""
    task_send(PICK_UP_EXPERIMENTS, otherwise="nobody looks for experiments", expires=expires)
