"""`python manage.py models [PROVIDER]`: list a provider's language models and their capabilities.

The command names the differences from our built-in list. Without PROVIDER, it asks this server's default
provider. `--keep FILE` writes the list to a file. If the environment variable `BRIGADE_MODELS` names that
file, its entries about thinking and effort replace the built-in ones. `--update FILE` asks nobody: it writes
the models that the installed SDK knows, with the capabilities of their families and the day. It also names
the newer ones, and those without a price of their own. Exit code 2: unknown provider, or no key. Exit code 1:
the provider does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.language_model import ModelError, OfferedModel
from kitchen.infra.file_writing import write_atomically
from kitchen.llm.call_costs import load_prices
from kitchen.llm.model_capabilities import (
    listed_model,
    model_list_text,
    predecessor_of,
    without_date,
)
from kitchen.llm.provider_registry import (
    ALIASES,
    ANTHROPIC,
    PROVIDERS,
    default_provider,
    list_provider_models,
    why_unavailable,
)
from kitchen.llm.providers.anthropic import CLAUDE_MODELS, ClaudeTraits, claude_traits
from kitchen.llm.sdk_models import models_of_sdk, newer_than, sdk_in_words
from kitchen.management.command_helpers import OneLineCommand
from kitchen.words.english_text import os_error_words


def model_in_words(model: OfferedModel) -> str:
    """Return a model's properties as one line: `claude-x: active; thinking: adaptive; effort: low, high`."""
    facts = [
        model.status,
        f"thinking: {', '.join(model.thinking)}" if model.thinking else "",
        f"effort: {', '.join(model.efforts)}" if model.efforts else "",
        f"reads {model.reads} tokens at most" if model.reads else "",
        f"writes {model.writes} tokens at most" if model.writes else "",
    ]
    text = "; ".join(fact for fact in facts if fact)
    return f"{model.name}: {text}" if text else model.name


def differences_from_ours(provider: str, listed: Sequence[OfferedModel]) -> Iterator[str]:
    """Yield a sentence for each difference between the provider's list of models and the list in this
    project.

    Yields nothing for providers other than Anthropic.
    """
    if provider != ANTHROPIC:
        return
    for model in listed:
        yield from _differences(model)
    there = {without_date(model.name) for model in listed}
    for name in CLAUDE_MODELS:
        if name not in there:
            yield f"{name} is in our list and not in the provider's: nobody can ask it with this key"


def _differences(model: OfferedModel) -> Iterator[str]:
    if without_date(model.name) not in CLAUDE_MODELS and listed_model(ANTHROPIC, model.name) is None:
        yield f"{model.name} is not in our list: nothing special is sent to it"
        return
    if model.status in {"deprecated", "retired"}:
        yield f"{model.name} is {model.status}"
    yield from (f"{model.name} {what}" for what in _contradictions(model, claude_traits(model.name)))


def _contradictions(model: OfferedModel, ours: ClaudeTraits) -> Iterator[str]:
    way = ours.least.get("thinking", {}).get("type", "")
    if way and model.thinking and way not in model.thinking:
        yield f"is sent thinking “{way}”, which it does not take"
    if model.thinking and ours.effort and not model.efforts:
        yield "takes no effort, and we think that it does"
    if model.efforts and not ours.effort:
        yield "takes an effort, and is sent none"


def sdk_model(name: str) -> OfferedModel:
    """Return what we know of a model that the SDK names. A model newer than our list has the capabilities of
    its family's newest model in our list. Nothing is known of others."""
    ours = CLAUDE_MODELS.get(without_date(name)) or CLAUDE_MODELS.get(predecessor_of(name, CLAUDE_MODELS))
    if ours is None:
        return OfferedModel(name)
    way = ours.least.get("thinking", {}).get("type", "")
    thinking = ("adaptive", way) if way else ()
    return OfferedModel(name, thinking=thinking, efforts=("low", "medium", "high") if ours.effort else ())


class Command(OneLineCommand):
    """Print a line for each model of the provider, then a line for each difference from the project's own
    list."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments: the provider, and the file in which to save the list."""
        parser.add_argument("provider", nargs="?", default="", help=", ".join(PROVIDERS))
        parser.add_argument("--keep", type=Path, metavar="FILE", help="write the list down")
        parser.add_argument("--update", type=Path, metavar="FILE", help="write down what the SDK knows")

    def handle(
        self, *args: Any, provider: str, keep: Path | None = None, update: Path | None = None, **options: Any
    ) -> None:
        """Fetch the provider's list of models, print it, and save it to the file `keep`, if given. With
        `update`, save the SDK's list instead."""
        named = ALIASES.get(provider, provider) or default_provider()
        if named not in PROVIDERS:
            raise CommandError(f"{provider!r} is no provider; there are {', '.join(PROVIDERS)}", returncode=2)
        if update:
            self._update(named, update)
            return
        if why := why_unavailable(named):
            raise CommandError(why, returncode=2)
        try:
            listed = list_provider_models(named)
        except ModelError as error:
            raise CommandError(f"{named} does not list its models: {error}", returncode=1) from error
        if keep:
            self._write_list(keep, model_list_text(named, listed))
        for model in listed:
            self.stdout.write(model_in_words(model))
        for difference in differences_from_ours(named, listed):
            self.stdout.write(self.style.WARNING(difference))
        self._tell_newer(named)

    def _update(self, provider: str, file: Path) -> None:
        """Write the models that the SDK knows to the file, and tell which of them are newer than ours."""
        names = models_of_sdk(provider)
        if not names:
            raise CommandError(f"no SDK of {provider} with a list of models is installed", returncode=1)
        told = f"# {sdk_in_words(provider)}, {date.today().isoformat()}\n"
        self._write_list(file, told + model_list_text(provider, map(sdk_model, names)))
        self.stdout.write(f"{len(names)} models of {sdk_in_words(provider)} in {file}")
        self._tell_newer(provider)

    def _tell_newer(self, provider: str) -> None:
        if provider != ANTHROPIC:
            return
        for name in newer_than(CLAUDE_MODELS, models_of_sdk(provider)):
            price_of = load_prices().assumed_from(provider, name)
            price = f"its price is taken to be that of {price_of}" if price_of else "it has no price"
            told = f"{name} is newer than our list ({sdk_in_words(provider)} knows it): {price}"
            self.stdout.write(self.style.WARNING(told))

    def _write_list(self, file: Path, text: str) -> None:
        try:
            write_atomically(file, text.encode())
        except OSError as error:
            raise CommandError(f"cannot write to {file}: {os_error_words(error)}", returncode=2) from error
