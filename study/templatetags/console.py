"""What every page of the researcher's console shows: the tabs of one study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

from study.models import Study

register = template.Library()

TABS = {
    "Design": "staff-design",
    "Participants": "staff-study",
    "Live": "staff-live",
    "Data": "staff-data",
    "Analysis": "staff-analysis",
    "Sample size": "sample-size",
    "Preregistration": "staff-preregistration",
}
"""The words of each tab and the name of its address. A page whose address is named `staff-live-…` belongs to
the tab of `staff-live`."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab as the page shows it."""

    words: str
    url: str
    current: bool


@register.inclusion_tag("study/staff/tabs.html", takes_context=True)
def study_tabs(context: dict[str, Any], study: Study) -> dict[str, Any]:
    """The tabs of a study; the one that the page belongs to is marked."""
    here = str(getattr(context["request"].resolver_match, "url_name", ""))
    found = ((words, _url(name, study), _belongs(here, name)) for words, name in TABS.items())
    return {"tabs": [Tab(*one) for one in found if one[1]], "study": study}


def _url(name: str, study: Study) -> str:
    """The address, or nothing if there is no such page."""
    try:
        return reverse(f"study:{name}", args=[study.slug])
    except NoReverseMatch:
        return ""


def _belongs(page: str, tab: str) -> bool:
    return page == tab or page.startswith(f"{tab}-")
