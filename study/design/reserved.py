"""Names that a study cannot have in its link: those of the researcher's own pages."""

from __future__ import annotations

RESERVED_SLUGS = frozenset({"account", "new", "replay", "sample-size", "security-events", "tokens", "well"})
"""What stands in a study's place in an address of `study.urls`, such as `new` in `/staff/new/`."""
