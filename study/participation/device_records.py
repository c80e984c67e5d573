"""Record a participant's device and window size, and how long the page was hidden.

The data are recorded only if the study asks for this and the participant has consented. The browser's
`User-Agent` header is reduced to device kind, browser family with major version, and operating system. The
page's script (`static/js/device.js`) sends the other values.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django import forms
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from study.participants.models import PageVisit, Participant

LONGEST = 500
"""Number of characters of the `User-Agent` that are read."""
OTHER, TABLET = "other", "tablet"
KINDS = ("computer", "headset", OTHER, "phone", TABLET)
_PATTERNS = tomllib.loads(Path(__file__).with_name("user_agents.toml").read_text(encoding="utf-8"))
BROWSERS, SYSTEMS, DEVICES = (dict[str, str](_PATTERNS[name]) for name in ("browsers", "systems", "devices"))


@dataclass(frozen=True, slots=True)
class Device:
    """A browser's device: the device kind (one of `KINDS`), the browser family and the system family
    (`other` if unknown), and the browser's major version (None if unknown)."""

    device: str
    browser: str
    browser_version: int | None
    system: str

    def touched(self) -> Device:
        """Return this device, corrected for a screen that supports multi-touch. A device that reports itself
        as a Mac is then an iPad, because no Mac has a touch screen."""
        return replace(self, device=TABLET, system="iPadOS") if self.system == "macOS" else self


def device_of(name: str) -> Device:
    """Parse a `User-Agent` header, and return the device. If nothing matches, all its families (kind,
    browser, system) are `other`."""
    name = name[:LONGEST]
    found = ((family, re.search(pattern, name)) for family, pattern in BROWSERS.items())
    browser, version = next(((family, match[1]) for family, match in found if match), (OTHER, ""))
    known = int(version) if version and len(version) < 5 else None
    return Device(_first(DEVICES, name), browser, known, _first(SYSTEMS, name))


def _first(table: dict[str, str], name: str) -> str:
    return next((family for family, pattern in table.items() if re.search(pattern, name)), OTHER)


MOST_PIXELS = 20_000
MOST_TIMES = 10_000
CLOCKS_APART = timedelta(minutes=1)
"""Tolerance for a change of the browser's clock while a page was open."""


class DeviceReportForm(forms.Form):
    """The values that a page's script reports: whole numbers, none below 0."""

    page = forms.SlugField(max_length=40)
    position = forms.IntegerField(min_value=0, max_value=1000)
    width = forms.IntegerField(min_value=1, max_value=MOST_PIXELS)
    height = forms.IntegerField(min_value=1, max_value=MOST_PIXELS)
    times_away = forms.IntegerField(min_value=0, max_value=MOST_TIMES)
    away_ms = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    touched = forms.BooleanField(required=False)


def keeps_devices(person: Participant) -> bool:
    """Return whether this participant's device may be recorded. The study's design must say so, and the
    participant must have consented if consent is asked."""
    design = person.version.blueprint
    agreed = person.consented_at is not None or not design.has("consent")
    return bool(design.meant("keeps_devices")) and agreed


def device_fields(request: HttpRequest, person: Participant) -> dict[str, Any]:
    """Return the fields of a page visit that come from the request's `User-Agent` header. The result is
    empty if devices are not recorded."""
    if not keeps_devices(person):
        return {}
    return asdict(device_of(request.headers.get("User-Agent", "")))


def visit_to_record(person: Participant, page: str, position: int) -> PageVisit | None:
    """Return the page visit to which a device report belongs. Return None if devices are not recorded or the
    page was never opened."""
    if not keeps_devices(person):
        return None
    return PageVisit.objects.filter(participant=person, page=page, position=position).first()


def record_device(*, request: HttpRequest, person: Participant) -> bool:
    """Store the device report that a participant's page sent.

    Return False, without a change, if the study records no devices, the report is impossible, or the page was
    never opened. A report with lower numbers than the stored ones is ignored.
    """
    form = DeviceReportForm(request.POST)
    if not keeps_devices(person) or not form.is_valid():
        return False
    report = form.cleaned_data
    visit = visit_to_record(person, report["page"], report["position"])
    times_away, away_ms = report["times_away"], report["away_ms"]
    if visit is None or timedelta(milliseconds=away_ms) > timezone.now() - visit.opened_at + CLOCKS_APART:
        return False
    device = device_of(request.headers.get("User-Agent", ""))
    known = Q(times_away=None) | Q(times_away__lte=times_away, away_ms__lte=away_ms)
    PageVisit.objects.filter(known, pk=visit.pk).update(
        **asdict(device.touched() if report["touched"] else device),
        window_width=report["width"],
        window_height=report["height"],
        times_away=times_away,
        away_ms=away_ms,
    )
    return True
