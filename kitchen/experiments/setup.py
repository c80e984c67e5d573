"""What an experiment was asked to be: levels, agents, intervals, who plays; the paper's tables as presets.

`Setup` is checked once (`checked`) and then taken as it is; `to_json` goes into experiment.json and the
database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from kitchen.contract.world import Json, SettingsError, clean_settings
from kitchen.experiments import paper
from kitchen.llm.registry import read_model, unavailable
from kitchen.registry.agents import get_coplayer
from kitchen.registry.names import UnknownNameError
from kitchen.worlds.cuisine.world import CuisineWorld

WORLD = "cuisine"
ALPHAS = (1.0, 1.5, 2.0, 2.5, 3.0)
AGENTS = (2, 3, 4)
STEPS = 60
MODEL = "model"
"""The setting that names a co-player's language model."""
PRESET_LEVEL = "level_3"
"""Where the paper's Tables 6 to 8 were played."""
MAX_EPISODES = 10_000


class SetupError(Exception):
    """An experiment that cannot be played; one line. `about` names the argument that is wrong, `setting` the
    co-player's setting; empty where it is none."""

    def __init__(self, text: str, about: str = "", setting: str = "") -> None:
        super().__init__(text)
        self.about, self.setting = about, setting


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of playing that is compared with others: its settings, and the paper's row beside it."""

    name: str = ""
    label: str = ""
    settings: Mapping[str, Json] = field(default_factory=dict)
    paper: tuple[str, str] | None = None
    """Table and row in the data file; None for GPT-4 of Tables 3 to 5."""


@dataclass(frozen=True, slots=True)
class Column:
    """One level x agents cell of the paper's tables: all its intervals."""

    variant: Variant
    level: str
    agents: int

    @property
    def key(self) -> tuple[str, str, int]:
        """As rows name it."""
        return self.variant.name, self.level, self.agents

    @property
    def paper(self) -> Mapping[float, paper.Counts]:
        """The paper's counts by interval; empty where it has none."""
        table = self.variant.paper
        return paper.row_of(*table) if table else paper.gpt4(self.level, self.agents)


@dataclass(frozen=True, slots=True)
class Setup:
    """All arguments of an experiment."""

    coplayer: str = "planner"
    levels: tuple[str, ...] = field(default_factory=paper.levels)
    agents: tuple[int, ...] = AGENTS
    alphas: tuple[float, ...] = ALPHAS
    episodes: int = 3
    seed: int = 1
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The co-player's, all of them."""
    preset: str = ""
    models: tuple[str, ...] = ()
    """Table 6: the models that are compared."""

    def to_json(self) -> dict[str, Json]:
        """As JSON; `from_json` gives an equal setup."""
        found = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        found: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**found)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every level x agents cell with its variant, in the order of the tables."""
        if self.preset:
            return tuple(PRESETS[self.preset](self))
        pairs = ((level, agents) for agents in self.agents for level in self.levels)
        return tuple(Column(Variant(), level, agents) for level, agents in pairs)

    def settings_of(self, variant: Variant) -> dict[str, Json]:
        """The co-player's settings in a variant."""
        return {**self.settings, **variant.settings}


def _table6(setup: Setup) -> Iterator[Column]:
    for agents in setup.agents:
        for model in setup.models:
            yield Column(Variant(model, model, {MODEL: model}), PRESET_LEVEL, agents)


def _table7(setup: Setup) -> Iterator[Column]:
    rows: tuple[tuple[str, str, Mapping[str, Json]], ...] = (
        ("full", "full", {}),
        ("few_step_demo", "few-step demonstration", {"demonstration": "few"}),
        ("no_inference_knowledge", "no inference knowledge", {"hints": False}),
        ("no_feedback", "no feedback", {"feedback": False}),
    )
    for name, label, settings in rows:
        yield Column(Variant(name, label, settings, (paper.ABLATION, name)), PRESET_LEVEL, 2)


def _table8(setup: Setup) -> Iterator[Column]:
    for agents, shown in ((4, 4), (4, 2), (3, 3), (3, 2)):
        name, label = f"{agents}_with_{shown}", f"{agents} agents, demonstration of {shown}"
        settings = {"demonstration_agents": shown}
        yield Column(Variant(name, label, settings, (paper.DEMONSTRATION, name)), PRESET_LEVEL, agents)


PRESETS = {"table6": _table6, "table7": _table7, "table8": _table8}
"""Table of the paper to its columns."""


def checked(setup: Setup) -> Setup:
    """The setup with all settings of its co-player filled in; SetupError if it cannot be played."""
    _check_values(setup)
    try:
        found = get_coplayer(setup.coplayer)
        full = replace(setup, settings=_filled(clean_settings(found.settings, setup.settings)))
        for column in full.columns:
            found(clean_settings(found.settings, full.settings_of(column.variant)))
    except (UnknownNameError, SettingsError) as error:
        text = str(error.args[0])
        raise SetupError(
            f"co-player {setup.coplayer}: {text}", "co_player", text.partition(":")[0]
        ) from error
    if found.worlds is not None and WORLD not in found.worlds:
        raise SetupError(f"co-player {setup.coplayer}: does not play {WORLD}", "co_player")
    check_answers(full)
    return full


def check_answers(setup: Setup) -> None:
    """SetupError where a model cannot be asked from here: another would play in its place throughout."""
    for settings in (setup.settings_of(column.variant) for column in setup.columns):
        if MODEL in settings:
            provider, model = read_model(str(settings[MODEL]))
            if why := unavailable(provider):
                raise SetupError(f"model: {why} (the model “stand-in” needs no key)", "model", MODEL)
            if not model:
                raise SetupError(f"model: name one of {provider}, as {provider}:NAME", "model", MODEL)


def _filled(settings: dict[str, Json]) -> dict[str, Json]:
    """With the model by its name, so that a resumed run asks the same one whatever the environment says."""
    if MODEL not in settings:
        return settings
    return {**settings, MODEL: ":".join(read_model(settings[MODEL]))}


def _check_values(setup: Setup) -> None:
    if setup.preset and setup.preset not in PRESETS:
        raise SetupError(f"preset: {setup.preset!r} is not one of {', '.join(PRESETS)}", "preset")
    if setup.preset == "table6" and not setup.models:
        raise SetupError("table6 compares models: name them", "model")
    known = _levels()
    for level in setup.levels:
        if level not in known:
            raise SetupError(f"levels: {level!r} is not one of {', '.join(known)}", "levels")
    _within("agents", setup.agents, 1, CuisineWorld.max_seats)
    _within("alphas", setup.alphas, 0.01, 100)
    _within("episodes", (setup.episodes,), 1, MAX_EPISODES)
    _within("seed", (setup.seed,), 0, 2**63 - 1)


def _levels() -> tuple[str, ...]:
    setting = next(each for each in CuisineWorld.settings if each.name == "level")
    return tuple(code for code, _ in setting.choices if code != "procedural")


def _within(name: str, values: Sequence[float], low: float, high: float) -> None:
    if not values or len(set(values)) < len(values):
        raise SetupError(f"{name}: needs values, each once", name)
    for value in values:
        if not low <= value <= high:
            raise SetupError(f"{name}: {value} is not from {low} to {high}", name)
