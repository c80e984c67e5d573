"""What participants read where a study says nothing of its own: translated by the program. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.words.speech import marked

STATEMENT = marked("I have read this and I agree to take part.")
"""What they agree to."""
TITLES: Mapping[str, str] = {
    "welcome": "",
    "consent": marked("Before you take part"),
    "about": marked("About you"),
    "guide": marked("How to play"),
    "practice": marked("Practice"),
    "check": marked("A few questions before you start"),
    "final": marked("Looking back"),
    "debriefing": marked("What this study was about"),
    "end": marked("Thank you, that was the last part"),
}
"""The headings of the parts, by their kinds."""
