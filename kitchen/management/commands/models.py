"""`python manage.py models [PROVIDER]`: the models that a provider lists now, what they can do, and where
that is not what is sent to them here.

`--keep FILE` writes the list down: where `BRIGADE_MODELS` names that file, what it says of thinking and
effort goes before our own list. Without a provider: the default one of this server. Exit code 2 for no such
provider or one without a key, 1 if it does not answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.model import ModelError
from kitchen.llm.knowing import differences, in_words
from kitchen.llm.model_list import written
from kitchen.llm.registry import ALIASES, PROVIDERS, default_provider, offered, unavailable
from kitchen.machine.atomic import put
from kitchen.management.base import OneLineCommand


class Command(OneLineCommand):
    """A line for each model; then one for each difference."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose models."""
        parser.add_argument("provider", nargs="?", default="", help=", ".join(PROVIDERS))
        parser.add_argument("--keep", type=Path, metavar="FILE", help="write the list down")

    def handle(self, *args: Any, provider: str, keep: Path | None, **options: Any) -> None:
        """Ask and tell."""
        named = ALIASES.get(provider, provider) or default_provider()
        if named not in PROVIDERS:
            raise CommandError(f"{provider!r} is no provider; there are {', '.join(PROVIDERS)}", returncode=2)
        if why := unavailable(named):
            raise CommandError(why, returncode=2)
        try:
            listed = offered(named)
        except ModelError as error:
            raise CommandError(f"{named} does not list its models: {error}", returncode=1) from error
        if keep:
            self._keep(keep, written(named, listed))
        for model in listed:
            self.stdout.write(in_words(model))
        for difference in differences(named, listed):
            self.stdout.write(self.style.WARNING(difference))

    def _keep(self, file: Path, text: str) -> None:
        try:
            put(file, text.encode())
        except OSError as error:
            raise CommandError(f"cannot write to {file}: {error.strerror or error}", returncode=2) from error
