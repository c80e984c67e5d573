"""Read the pictures that others are made of: Fluent Emoji, flat (Microsoft, MIT), and our own drawings."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import tarfile
import urllib.request
from pathlib import Path

SET = "https://registry.npmjs.org/@iconify-json/fluent-emoji-flat/-/fluent-emoji-flat-1.2.6.tgz"
SHA256 = "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175"
Icons = dict[str, dict[str, str]]
HEAD = """<svg xmlns="http://www.w3.org/2000/svg">
  <!-- Made by `make pictures`. Fluent Emoji, flat: Copyright (c) Microsoft Corporation, MIT License
       ({license}). What it lacks was drawn for Brigade. Used as {name}#code. -->"""


def download_icons() -> Icons:
    """Download the set from the npm registry. Return the drawing of each name, as the set's JSON has it."""
    with urllib.request.urlopen(SET, timeout=60) as answer:
        package = answer.read()
    if hashlib.sha256(package).hexdigest() != SHA256:
        sys.exit(f"pictures: {SET} is not what it was")
    with tarfile.open(fileobj=io.BytesIO(package)) as tar:
        icons = tar.extractfile("package/icons.json")
        assert icons
        found: Icons = json.load(icons)["icons"]
        return found


def read_symbols(path: Path) -> dict[str, str]:
    """Return the content of each symbol of an SVG file, by its id."""
    text = path.read_text("utf-8")
    return dict(re.findall(r'<symbol id="([\w-]+)"[^>]*>(.*?)</symbol>', text, re.DOTALL))


def symbol(name: str, body: str) -> str:
    """Return a symbol of 32 by 32."""
    return f'  <symbol id="{name}" viewBox="0 0 32 32">{body}</symbol>'
