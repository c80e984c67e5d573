"""What a browser's name says of the device, in a few words."""

from __future__ import annotations

import pytest
from django.db.models import CharField

from study.participants.models import PageVisit
from study.participation.device_records import Device, device_of

MOZILLA = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) {}"
NAMES = {
    MOZILLA.format("Windows NT 10.0; Win64; x64", "Chrome/141.0.0.0 Safari/537.36"): (
        "computer", "Chrome", 141, "Windows",
    ),
    MOZILLA.format("Windows NT 10.0; Win64; x64", "Chrome/141.0.0.0 Safari/537.36 Edg/141.0.3537.57"): (
        "computer", "Edge", 141, "Windows",
    ),
    MOZILLA.format("Macintosh; Intel Mac OS X 10_15_7", "Version/18.6 Safari/605.1.15"): (
        "computer", "Safari", 18, "macOS",
    ),
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0": (
        "computer", "Firefox", 143, "Linux",
    ),
    MOZILLA.format("X11; CrOS x86_64 14541.0.0", "Chrome/140.0.0.0 Safari/537.36"): (
        "computer", "Chrome", 140, "ChromeOS",
    ),
    MOZILLA.format("iPhone; CPU iPhone OS 18_6 like Mac OS X", "Version/18.6 Mobile/15E148 Safari/604.1"): (
        "phone", "Safari", 18, "iOS",
    ),
    MOZILLA.format("iPad; CPU OS 17_7 like Mac OS X", "CriOS/141.0.7390.41 Mobile/15E148 Safari/604.1"): (
        "tablet", "Chrome", 141, "iPadOS",
    ),
    MOZILLA.format("Linux; Android 10; K", "SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36"): (
        "phone", "Samsung Internet", 28, "Android",
    ),
    MOZILLA.format("Linux; Android 10; K", "Chrome/141.0.0.0 Safari/537.36"): (
        "tablet", "Chrome", 141, "Android",
    ),
    "Mozilla/5.0 (Android 15; Tablet; rv:143.0) Gecko/143.0 Firefox/143.0": (
        "tablet", "Firefox", 143, "Android",
    ),
    MOZILLA.format("X11; Linux x86_64; Quest 3", "OculusBrowser/39.0 Chrome/136.0.0.0 VR Safari/537.36"): (
        "headset", "Meta Quest Browser", 39, "Linux",
    ),
    "curl/8.5.0": ("other", "other", None, "other"),
    "": ("other", "other", None, "other"),
    "Firefox/123456": ("other", "Firefox", None, "other"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "told"), NAMES.items())
def test_a_user_agent_is_reduced_to_a_few_words(name: str, told: tuple[str, str, int | None, str]) -> None:
    assert device_of(name) == Device(*told)


def test_a_mac_that_can_be_touched_is_a_tablet_and_nothing_else_becomes_one() -> None:
    mac, phone, windows, *_ = (
        device_of(name) for name in NAMES if any(word in name for word in ("Macintosh", "iPhone", "Edg"))
    )
    told = {one.system: one.touched().system for one in (mac, phone, windows)}
    assert told == {"Windows": "Windows", "macOS": "iPadOS", "iOS": "iOS"}


def test_no_word_is_too_long_for_its_column() -> None:
    for name in NAMES:
        told = device_of(name)
        for field in ("device", "browser", "system"):
            column = PageVisit._meta.get_field(field)
            assert isinstance(column, CharField)
            longest = column.max_length
            assert longest and len(getattr(told, field)) <= longest
