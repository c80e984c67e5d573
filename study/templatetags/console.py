"""Define template tags and filters for the researcher's console, such as study tabs and checks of rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse

from kitchen.play.models import Episode
from kitchen.registry.world_metrics import metric_summary
from study.design.models import Study
from study.design.questions.item_kinds import answer_words
from study.design.readiness_problem import ReadinessProblem
from study.editor import describe_design
from study.researchers.permissions import has_right, rights_in

register = template.Library()
register.filter("answers_words", describe_design.answers_words)
register.filter("item_notes", describe_design.item_notes)
register.filter("world_words", describe_design.world_words)
register.filter("agents_words", describe_design.condition_agents_words)
register.filter("coplayer_words", describe_design.coplayer_words)
register.filter("answer_words", answer_words)

TABS = {
    "Design": ("staff-design", "copy"),
    "Study": ("staff-study", "view"),
    "Participants": ("staff-participants", "view"),
    "Live": ("staff-live", "view"),
    "Data": ("staff-data", "results"),
    "Analysis": ("staff-analysis", "results"),
    "Sample size": ("sample-size", "view"),
    "Preregistration": ("staff-preregistration", "view"),
}
"""Label of each tab → (URL name, right that its page needs).

A page whose URL name is `staff-live-…` belongs to the tab of `staff-live`.
"""


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of a study's pages."""

    words: str
    url: str
    current: bool


@register.simple_tag
def documentation_url() -> str:
    """Return the address of the documentation site. Return an empty string if it was not built."""
    return static(settings.DOCUMENTATION) if settings.DOCUMENTATION else ""


@register.inclusion_tag("study/researchers/tabs.html", takes_context=True)
def study_tabs(context: dict[str, Any], study: Study) -> dict[str, Any]:
    """Return the template context with the tabs of a study that this user may open. The tab of the current
    page is marked."""
    request = context["request"]
    here, rights = str(getattr(request.resolver_match, "url_name", "")), rights_in(request.user, study)
    tabs = [
        Tab(words, _url(name, study), _belongs(here, name))
        for words, (name, right) in TABS.items()
        if right in rights
    ]
    return {"tabs": [tab for tab in tabs if tab.url], "study": study}


@register.filter
def score_words(episode: Episode) -> tuple[str, ...]:
    """Return the main metrics of an episode's current score as texts."""
    return metric_summary(episode.world, episode.score)


@register.filter
def all_score_words(episode: Episode) -> tuple[str, ...]:
    """Return all metrics of an episode's current score as texts. The result is empty if `score_words` already
    shows all."""
    texts = metric_summary(episode.world, episode.score, in_full=True)
    return texts if len(texts) > len(score_words(episode)) else ()


@register.simple_tag(takes_context=True, name="may")
def may_tag(context: dict[str, Any], study: Study, right: str) -> bool:
    """Return whether the current user has a right in a study: `{% may study "edit" as may_edit %}`."""
    return has_right(context["request"].user, study, right)


def _url(name: str, study: Study) -> str:
    """Return the address of a study's tab. Return an empty string if there is no page with this name."""
    try:
        return reverse(f"study:{name}", args=[study.slug])
    except NoReverseMatch:
        return ""


def _belongs(page: str, tab: str) -> bool:
    return page == tab or page.startswith(f"{tab}-")


@register.simple_tag
def design_url(study: Study, one: ReadinessProblem) -> str:
    """Return the address of the page, and of its field, in which the researcher can fix this problem."""
    field = f"#id_{one.field}" if one.field else ""
    return reverse(f"study:staff-design-{one.page}", args=[study.slug, *one.args]) + field
