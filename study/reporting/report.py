"""A report in every form."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.template.loader import render_to_string


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report, rendered, or the problem that stood in its way."""

    title: str
    mark: str = ""
    """What stands on every page."""
    fragment: str = ""
    """HTML for the page of the console, without the title; figures stand in it."""
    pdf: bytes = field(default=b"", repr=False)
    problem: str = ""

    @property
    def html(self) -> str:
        """The file that needs nothing else."""
        context = {"title": self.title, "body": self.fragment, "mark": self.mark}
        return render_to_string("study/reporting/file.html", context)
