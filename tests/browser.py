"""Which browser the journeys use: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """The path of a Chromium: the one that `CHROMIUM` names, or the first on the path."""
    given = os.environ.get("CHROMIUM")
    names = (given,) if given else NAMES
    return next((found for name in names if (found := shutil.which(name))), None)
