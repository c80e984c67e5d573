"""What our commands share: wrong arguments end them with one line and code 2."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class OneLineCommand(BaseCommand):
    """A command that does not print its whole usage when an argument is wrong; `--help` tells it all."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's parser without the usage."""
        return super().create_parser(prog_name, subcommand, usage=argparse.SUPPRESS, **kwargs)
