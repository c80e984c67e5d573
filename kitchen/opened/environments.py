"""Make environments for programs that learn, from every world of the registry.

    env = parallel_env("overcooked", seats=2, settings={"layout": "cramped_room"})  # all act at once
    env = aec_env("blocks_gather", seats=3)  # one acts after another
    env = vector_env("overcooked", copies=64)  # many copies, one array

`docs/environments.md` describes arguments, encodings, rewards and masks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.opened.inside_partners import Partner
from kitchen.opened.learning_episode import EpisodeSetup
from kitchen.registry.dotted_paths import UnknownNameError

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from kitchen.opened.parallel_environment import WorldEnvironment
    from kitchen.opened.vector_environment import VectorEnvironment

MISSING = "PettingZoo is not installed: `make open` installs it"


class EnvironmentArgumentError(ValueError):
    """An argument with which no environment can be made. The message is one line."""


def parallel_env(
    world: str,
    seats: int | None = None,
    settings: Mapping[str, Json] | None = None,
    *,
    encoding: str = "",
    mask: str = "info",
    partners: Mapping[int, Partner] | None = None,
    render_mode: str | None = None,
) -> WorldEnvironment:
    """Return a world as a PettingZoo `ParallelEnv`.

    `encoding` is a name such as `lossless_26` or `json/1`; empty: the world's default. `mask` is `info` or
    `observation`. `partners` are co-players inside, by seat: `{1: ("greedy", {})}`. Raises
    EnvironmentArgumentError for a wrong argument, ImportError if PettingZoo is missing.
    """
    try:
        from kitchen.opened.parallel_environment import WorldEnvironment
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error
    setup = EpisodeSetup(world, seats, settings or {}, encoding, partners or {})
    try:
        return WorldEnvironment(setup, mask=mask, render_mode=render_mode)
    except (SettingsError, UnknownNameError, ValueError) as error:
        raise EnvironmentArgumentError(str(error)) from error


def aec_env(world: str, *args: Any, **arguments: Any) -> AECEnv[str, Any, int | None]:
    """Return the environment of `parallel_env`, with the same arguments, as a PettingZoo `AECEnv`: its agents
    act one after another, and the last one's action carries out the step."""
    env = parallel_env(world, *args, **arguments)
    from pettingzoo.utils import parallel_to_aec

    return parallel_to_aec(env)


def vector_env(
    world: str,
    seats: int | None = None,
    settings: Mapping[str, Json] | None = None,
    *,
    copies: int,
    encoding: str = "",
    partners: Mapping[int, Partner] | None = None,
) -> VectorEnvironment:
    """Return many copies of a world, which share one array of observations. The arguments are those of
    `parallel_env`; PettingZoo is not needed. Raises EnvironmentArgumentError for a wrong argument."""
    from kitchen.opened.vector_environment import VectorEnvironment

    setup = EpisodeSetup(world, seats, settings or {}, encoding, partners or {})
    try:
        return VectorEnvironment(setup, copies)
    except (SettingsError, UnknownNameError, ValueError) as error:
        raise EnvironmentArgumentError(str(error)) from error
