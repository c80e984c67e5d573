"""Find the browser for tests: Debian's Chromium, driven by Playwright. The headless build is preferred,
because it needs a third less processor time.
"""

from __future__ import annotations

import os
import shutil

import pytest

IN_A_BROWSER = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
"""`pytestmark` for modules whose tests use the fixtures `browser` and `page`. One browser serves all of
them."""
NIGHTLY_IN_A_BROWSER = [*IN_A_BROWSER, pytest.mark.nightly]
"""`pytestmark` for a journey that only `make test-all` runs, because cheaper tests cover each of its
promises."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

SHOTS = os.environ.get("BRIGADE_SHOTS", "")
"""The folder for screenshots, if somebody wants to look at them."""

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """Return the path of Chromium: the path in `CHROMIUM`, or else the first Chromium on `PATH`."""
    given = os.environ.get("CHROMIUM")
    names = (given,) if given else NAMES
    return next((found for name in names if (found := shutil.which(name))), None)
