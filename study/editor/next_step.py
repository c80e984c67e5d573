"""Say what to do next in a study's design, with a link, after something was saved."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from study.analysis.pre_launch_warnings import pre_launch_problems
from study.design.models import Study


def say_saved(request: HttpRequest, study: Study, words: str) -> None:
    """Show the message `words` on the next page, with a link to the next step of the design.

    The next step is the first missing item of the design: one that the study needs before it can take
    people, or else one to consider. If nothing is missing, the link leads to the list of pages to preview.
    """
    problems = sorted(pre_launch_problems(study), key=lambda one: not one.hinders)
    link, then = reverse("study:staff-design-previews", args=[study.slug]), "preview any page"
    if problems:
        first, then = problems[0], problems[0].words
        link = reverse(f"study:staff-design-{first.page}", args=[study.slug, *first.args])
        link += f"#id_{first.field}" if first.field else ""
    messages.success(request, format_html('{} <a href="{}">Next: {}</a>', words, link, then))
