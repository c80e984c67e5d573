"""Build the admin form with which staff create an experiment.

It has one field for each argument of the experiment, and one for each setting of each kind of agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from kitchen.contract.line_up import MEMBER_SEPARATOR
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    DEFAULT_WORLD,
    KNOWLEDGE_CHOICES,
    NO_ORGANISATION,
    OFFERED_ORGANISATIONS,
    ExperimentSetup,
    SetupError,
)
from kitchen.experiments.models import Experiment
from kitchen.experiments.setup_arguments import SEATS_AS_NAMED, SEATS_BOTH_WAYS, read_setup
from kitchen.forms.setting_fields import error_without_name, readable_name, setting_field
from kitchen.registry.agent_registry import agent_kinds, get_agent
from kitchen.registry.world_registry import worlds_with_comparison, worlds_with_pairings

ARGUMENTS = ("preset", "model", "levels", "agents", "alphas", "episodes", "seed")
COPLAYER, START_FIELD = "coplayer", "_start"
OF_PARTNERS = ("pairs", "layouts", "seats", "partners_model", "set")
"""Fields of worlds in which partners are compared."""
OF_TEAMS = ("organisation", "organisation_set", "goal", "knowing")
"""Additional fields of worlds in which line-ups are compared."""
FIELD_FOR_ARGUMENT = {
    "model": "partners_model",
    "levels": "layouts",
    "seeds": "episodes",
    "members": "pairs",
    "agents": "pairs",
}
"""Argument → field that shows its error, if the field has another name."""


def comma_list(values: Sequence[object]) -> str:
    """Return the values joined with commas, as in arguments of the command line."""
    return ",".join(str(value) for value in values)


def setting_names(kind: str) -> dict[str, str]:
    """Return the settings of a kind of agent, as form field name → setting name."""
    return {f"{COPLAYER}__{kind}__{each.name}": each.name for each in get_agent(kind).settings}


def exact_amount(amount: Decimal) -> Decimal:
    """Return the same amount without trailing zeros, but with at least two decimals."""
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount.normalize()


class RunSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """Edit an existing experiment: its name, the number of parallel episodes, and the spending limit."""

    at_once = forms.IntegerField(
        label="Episodes at once",
        initial=4,
        min_value=1,
        max_value=1000,
        help_text="How many episodes may be played at the same time; never more than the workers have "
        "threads, except in batches.",
    )
    limit = forms.DecimalField(
        label="Spending limit",
        initial=0,
        min_value=0,
        max_digits=12,
        decimal_places=6,
        help_text="The most that all calls of models may cost, in US dollars; 0 if they cost nothing.",
    )

    class Meta:
        model = Experiment
        fields = ("name", "at_once", "limit")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.initial.get("limit") is not None:
            self.initial["limit"] = exact_amount(self.initial["limit"])

    def clean(self) -> dict[str, Any]:
        """Return the cleaned fields. Errors are added if the experiment cannot be played."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self.wanted()
        return cleaned

    def wanted(self) -> ExperimentSetup | None:
        """Return the setup that the experiment stores. A subclass may read it from the form's fields instead,
        and returns None if they have errors."""
        return ExperimentSetup.from_json(self.instance.setup)


class SpendingLimitForm(forms.Form):
    """Ask how much money an experiment may cost from now on."""

    limit = forms.DecimalField(
        label="Spending limit for all its calls",
        min_value=Decimal("0.000001"),
        max_digits=12,
        decimal_places=6,
        help_text="US dollars, including what is already spent.",
    )


class ExperimentForm(RunSettingsForm):
    """Create an experiment; the fields become `Experiment.setup`. Use the class that `experiment_form`
    returns, which has the fields of all agents."""

    preset = forms.ChoiceField(
        required=False,
        choices=[
            ("", "None: the levels and agents below"),
            *((name, readable_name(name)) for name in DEFAULT_BENCHMARK.presets),
        ],
        help_text=f"A table of the paper, played by the {DEFAULT_BENCHMARK.preset_coplayer} on "
        f"{DEFAULT_BENCHMARK.preset_level}.",
    )
    model = forms.CharField(
        required=False,
        label="Models to compare",
        help_text="For table 6: provider:model, separated by commas. Otherwise choose the model below.",
    )
    levels = forms.CharField(required=False, help_text="Such as 0,1,3. Empty: the paper's 12.")
    agents = forms.CharField(required=False, help_text=f"Empty: {comma_list(DEFAULT_BENCHMARK.agents)}.")
    alphas = forms.CharField(
        required=False, label="Intervals (alpha)", help_text=f"Empty: {comma_list(DEFAULT_BENCHMARK.alphas)}."
    )
    world = forms.ChoiceField(required=False, label="World")
    pairs = forms.CharField(required=False, label="Pairs of co-players")
    layouts = forms.CharField(required=False)
    seats = forms.ChoiceField(
        required=False,
        choices=[
            (SEATS_AS_NAMED, "As the pairs say"),
            (SEATS_BOTH_WAYS, "Each pair the other way round, too"),
        ],
    )
    partners_model = forms.CharField(
        required=False,
        label="Model for co-players that ask one",
        help_text="As provider:model, or stand-in.",
    )
    set = forms.CharField(
        required=False,
        label="Other settings",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="NAME=VALUE, one on each line, for every member that has a setting of that name.",
    )
    organisation = forms.CharField(
        required=False,
        label="Organisations",
        help_text=f"Who may say what to whom, separated by commas: "
        f"{comma_list((NO_ORGANISATION, *OFFERED_ORGANISATIONS))}. "
        "Empty: as usual in this world.",
    )
    organisation_set = forms.CharField(
        required=False,
        label="Settings of the organisation",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="NAME=VALUE, one on each line.",
    )
    goal = forms.CharField(
        required=False,
        label="Goal",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="NAME=VALUE, one on each line: metrics and the least values at which an episode ends. "
        "Empty: it lasts all steps.",
    )
    knowing = forms.ChoiceField(
        required=False,
        label="Whose commands a member knows before it decides",
        choices=[(each, readable_name(each)) for each in KNOWLEDGE_CHOICES],
    )
    episodes = forms.IntegerField(
        initial=3, min_value=1, help_text="For each cell and interval, or each pair and layout."
    )
    seed = forms.IntegerField(initial=1, min_value=0)
    batch = forms.BooleanField(
        required=False,
        label="Send the calls of all episodes in batches",
        help_text="They cost less, and each step may take up to a day. Let many episodes play at once.",
    )

    def wanted(self) -> ExperimentSetup | None:
        """Return the setup that the fields describe. If the setup is invalid, add the errors to the fields
        that caused them, and return None."""
        self._forget_others()
        if self.errors:
            return None
        try:
            self.setup = read_setup({**self._given(), "batch": self.cleaned_data["batch"]})
        except SetupError as error:
            self.add_error(*self._placed(error))
            return None
        return self.setup

    def _forget_others(self) -> None:
        """Remove errors from the form fields of co-players that the user did not choose."""
        chosen = None if self._compares_partners else self.cleaned_data.get(COPLAYER)
        for kind in agent_kinds(DEFAULT_WORLD):
            for name in setting_names(kind) if kind != chosen else ():
                self.errors.pop(name, None)

    @property
    def _compares_partners(self) -> bool:
        return self.cleaned_data.get("world", "") not in {"", DEFAULT_WORLD}

    def _given_of_partners(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        given = {name: cleaned[name] or None for name in ("world", "pairs", "layouts", "seats")}
        if cleaned["world"] in worlds_with_comparison():
            given = self._given_of_teams()
        numbers = {name: str(cleaned[name]) for name in ("episodes", "seed")}
        model = cleaned["partners_model"] or None
        return {**given, **numbers, "model": model, "set": _lines(cleaned["set"])}

    def _given_of_teams(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        given = {name: cleaned[name] or None for name in ("world", "organisation", "knowing")}
        given |= {"members": cleaned["pairs"] or None, "levels": cleaned["layouts"] or None}
        return {**given, **{name: _lines(cleaned[name]) for name in ("organisation_set", "goal")}}

    def _given(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if self._compares_partners:
            return self._given_of_partners()
        names = setting_names(cleaned[COPLAYER])
        given = {name: str(cleaned[name]) if cleaned[name] not in {"", None} else None for name in ARGUMENTS}
        if given["model"] and given["preset"] != "table6":
            raise SetupError("model: only table 6 compares models: choose the model below", "model")
        given |= dict.fromkeys(("demo", "no_feedback", "no_hints"))
        given |= {name: cleaned[name] for name in ("pairs", "layouts")}
        settings = {setting: cleaned[name] for name, setting in names.items()}
        return {**given, "co_player": cleaned[COPLAYER], "coplayer_settings": settings}

    def _placed(self, error: SetupError) -> tuple[str | None, ValidationError]:
        """Return the name of the field that an error belongs to, and the error to show at this field."""
        text, compares = str(error), self.cleaned_data.get("preset") == "table6"
        if self._compares_partners:
            about = FIELD_FOR_ARGUMENT.get(error.about, error.about)
            return (about if about in self.fields else None), ValidationError(error_without_name(text))
        setting = f"{COPLAYER}__{self.cleaned_data[COPLAYER]}__{error.setting}"
        if setting in self.fields and not (compares and error.about == "model"):
            return setting, ValidationError(
                error_without_name(text.partition(f"{error.setting}: ")[2] or text)
            )
        about = COPLAYER if error.about == "co_player" else error.about
        if about in self.fields:
            return about, ValidationError(error_without_name(text))
        return None, ValidationError(text)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def experiment_form() -> type[ExperimentForm]:
    """Return the form class, with one field for each setting of every registered agent."""
    kinds = [(kind, readable_name(kind)) for kind in agent_kinds(DEFAULT_WORLD)]
    chosen = forms.ChoiceField(label="Co-player", choices=kinds, initial=DEFAULT_BENCHMARK.coplayer)
    fields: dict[str, Any] = {COPLAYER: chosen, **_fields_of_partners()}
    for kind in agent_kinds(DEFAULT_WORLD):
        for name, setting in zip(setting_names(kind), get_agent(kind).settings, strict=True):
            fields[name] = setting_field(setting)
            fields[name].initial = setting.default
    return type("ExperimentForm", (ExperimentForm,), fields)


def _fields_of_partners() -> dict[str, forms.Field]:
    grounds, teams = worlds_with_pairings(), worlds_with_comparison()
    usual = "; ".join(
        f"{readable_name(name)}: {comma_list(ground.usual_levels())}"
        for name, ground in {**grounds, **teams}.items()
    )
    kinds = "; ".join(
        f"{readable_name(name)}: {comma_list(ground.kinds())}" for name, ground in grounds.items()
    )
    world, pairs, layouts = (copy(ExperimentForm.base_fields[name]) for name in ("world", "pairs", "layouts"))
    world.choices = [(name, readable_name(name)) for name in (DEFAULT_WORLD, *grounds, *teams)]  # type: ignore[attr-defined]
    world.initial = DEFAULT_WORLD
    world.help_text = (
        f"In {readable_name(DEFAULT_WORLD)} what is done at each level is counted; "
        f"elsewhere partners are compared."
    )
    pairs.help_text = f"As ONE{MEMBER_SEPARATOR}OTHER, separated by commas. Empty: every pair of {kinds}."
    if teams:
        pairs.label = "Who sits beside whom, or who plays"
        pairs.help_text += f" In {', '.join(map(readable_name, teams))} any number of members."
    layouts.help_text = f"Empty: {usual}."
    return {"world": world, "pairs": pairs, "layouts": layouts}


def fieldsets() -> list[tuple[str | None, Mapping[str, Any]]]:
    """Return all fields of the form for a new experiment, in groups. The page shows only the settings of
    the chosen co-player."""
    both, teams = ["episodes", "seed"], worlds_with_comparison()
    what = [COPLAYER, *(name for name in ARGUMENTS if name not in both)]
    return [
        (None, {"fields": ["name"]}),
        ("What is played", {"fields": ["world", *both]}),
        ("Levels and agents", {"fields": what, "classes": _only_in(DEFAULT_WORLD)}),
        ("Partners", {"fields": list(OF_PARTNERS), "classes": _only_in(*worlds_with_pairings(), *teams)}),
        *([("Team", {"fields": list(OF_TEAMS), "classes": _only_in(*teams)})] if teams else []),
        *(_settings_of(kind) for kind in agent_kinds(DEFAULT_WORLD) if setting_names(kind)),
        ("How", {"fields": ["at_once", "limit", "batch"]}),
    ]


def _settings_of(kind: str) -> tuple[str, Mapping[str, Any]]:
    classes = [*_only_in(DEFAULT_WORLD), f"settings-of-{COPLAYER}", f"is-{kind}"]
    return f"Settings of {readable_name(kind)}", {"fields": list(setting_names(kind)), "classes": classes}


def _only_in(*worlds: str) -> list[str]:
    """Return CSS classes that hide a field while none of these worlds is chosen."""
    return ["settings-of", "settings-of-world", *(f"is-{world}" for world in worlds)]


RUN_SETTINGS_FIELDSET: tuple[str, Mapping[str, Any]] = ("How", {"fields": ["at_once", "limit"]})
