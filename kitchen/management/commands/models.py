"""`python manage.py models [PROVIDER]`: list a provider's language models and their capabilities.

The command names the differences from our built-in list. Without PROVIDER, it asks this server's default
provider. `--keep FILE` writes the list to a file. If the environment variable `BRIGADE_MODELS` names that
file, its entries about thinking and effort replace the built-in ones. Exit code 2: unknown provider, or no
key. Exit code 1: the provider does not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.language_model import ModelError, OfferedModel
from kitchen.infra.file_writing import write_atomically
from kitchen.llm.model_capabilities import listed_model, model_list_text, without_date
from kitchen.llm.provider_registry import (
    ALIASES,
    ANTHROPIC,
    PROVIDERS,
    default_provider,
    list_provider_models,
    why_unavailable,
)
from kitchen.llm.providers.anthropic import CLAUDE_MODELS, ClaudeTraits, claude_traits
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


class Command(OneLineCommand):
    """Print a line for each model of the provider, then a line for each difference from the project's own
    list."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments: the provider, and the file in which to save the list."""
        parser.add_argument("provider", nargs="?", default="", help=", ".join(PROVIDERS))
        parser.add_argument("--keep", type=Path, metavar="FILE", help="write the list down")

    def handle(self, *args: Any, provider: str, keep: Path | None, **options: Any) -> None:
        """Fetch the provider's list of models, print it, and save it to the file `keep`, if given."""
        named = ALIASES.get(provider, provider) or default_provider()
        if named not in PROVIDERS:
            raise CommandError(f"{provider!r} is no provider; there are {', '.join(PROVIDERS)}", returncode=2)
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

    def _write_list(self, file: Path, text: str) -> None:
        try:
            write_atomically(file, text.encode())
        except OSError as error:
            raise CommandError(f"cannot write to {file}: {os_error_words(error)}", returncode=2) from error
