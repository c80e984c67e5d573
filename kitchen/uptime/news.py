"""What is told to whoever wants to hear it, within the transaction that writes it down."""

from __future__ import annotations

from django.dispatch import Signal

outage_over = Signal()
"""An outage was recorded: `part`, and `spans` of it that no other outage had covered, in their order."""

clock_set = Signal()
"""The clock was set `by` so much (a timedelta; negative: back), at the moment `at` of the new time or up to
`unsure` before it: what is dated in between may be dated by either."""
