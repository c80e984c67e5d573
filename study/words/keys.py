"""How a key may be written."""

from __future__ import annotations

import re

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Keys become names of files and columns."""
