"""Parse the options of a program. A wrong option prints one line, with exit code 2."""

from __future__ import annotations

import argparse
from typing import NoReturn


class OneLineParser(argparse.ArgumentParser):
    """An argument parser that prints each error in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error in one line, and exit with code 2."""
        self.exit(2, f"{self.prog}: {message}\n")
