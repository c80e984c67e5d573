"""What a browser's own name for itself (`User-Agent`) says of the device, in a few words. Plain Python.

The name itself is never kept: it can tell people apart. The words are coarse: a browser's family and major
version, a system's family.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

LONGEST = 500
"""Characters of a name that are looked at."""
COMPUTER, HEADSET, OTHER, PHONE, TABLET = KINDS = ("computer", "headset", "other", "phone", "tablet")
BROWSERS = {
    "Meta Quest Browser": r"OculusBrowser/(\d+)",
    "Edge": r"\bEdg(?:e|A|iOS)?/(\d+)",
    "Opera": r"\b(?:OPR|OPT|Opera)/(\d+)",
    "Samsung Internet": r"SamsungBrowser/(\d+)",
    "WeChat": r"MicroMessenger/(\d+)",
    "QQ Browser": r"QQBrowser/(\d+)",
    "Huawei Browser": r"HuaweiBrowser/(\d+)",
    "MIUI Browser": r"MiuiBrowser/(\d+)",
    "UC Browser": r"UCBrowser/(\d+)",
    "Yandex Browser": r"YaBrowser/(\d+)",
    "Firefox": r"\b(?:Firefox|FxiOS)/(\d+)",
    "Chrome": r"(?:Chrome|Chromium|CriOS)/(\d+)",
    "Safari": r"\bVersion/(\d+)\S* .*Safari/",
}
"""The first that is found: most of them also say that they are Chrome or Safari."""
SYSTEMS = {
    "iPadOS": r"\biPad\b",
    "iOS": r"\biPhone\b|\biPod\b",
    "HarmonyOS": r"Harmony",
    "Android": r"Android",
    "Windows": r"Windows",
    "ChromeOS": r"\bCrOS\b",
    "macOS": r"Macintosh|Mac OS X",
    "Linux": r"Linux|X11",
}
"""Likewise: Android says that it is Linux, an iPhone that it is like a Mac."""
DEVICES = {
    HEADSET: r"OculusBrowser|\bQuest\b",
    TABLET: r"\biPad\b|Tablet|^(?!.*Mobi).*Android",
    PHONE: r"\biPhone\b|\biPod\b|Mobi",
    COMPUTER: r"Windows|Macintosh|\bCrOS\b|Linux|X11",
}


@dataclass(frozen=True, slots=True)
class Device:
    """One of `KINDS`; families of `BROWSERS` and `SYSTEMS`, or `other`; the major version, if it is told."""

    device: str
    browser: str
    browser_version: int | None
    system: str

    def touched(self) -> Device:
        """The same if its screen can be touched with several fingers: a tablet of Apple says that it is a
        Mac, and no Mac can be touched."""
        return replace(self, device=TABLET, system="iPadOS") if self.system == "macOS" else self


def device_of(name: str) -> Device:
    """What such a name says; all of it `other` for one that says nothing."""
    name = name[:LONGEST]
    found = ((family, re.search(pattern, name)) for family, pattern in BROWSERS.items())
    browser, version = next(((family, said[1]) for family, said in found if said), (OTHER, ""))
    known = int(version) if version and len(version) < 5 else None
    return Device(_first(DEVICES, name), browser, known, _first(SYSTEMS, name))


def _first(table: dict[str, str], name: str) -> str:
    return next((family for family, pattern in table.items() if re.search(pattern, name)), OTHER)
