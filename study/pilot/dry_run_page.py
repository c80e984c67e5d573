"""Serve the staff page for dry runs, in which programs take part in a study.

Staff request a dry run there, and see its progress and results.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from study.analysis.pre_launch_warnings import dry_run_warnings, late_decision_warnings
from study.design.blueprint import blueprint_of
from study.design.models import Study, conditions_with_unmeasured
from study.design.readiness_checks import blocking_problems
from study.design.study_errors import DesignError
from study.participants.simulated_effects import MOST, KnownEffects, parse_effects
from study.participation.enter_study import why_study_closed
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.dry_run_jobs import dry_run_stop, request_dry_run
from study.pilot.fit_people import has_people_to_fit
from study.researchers.form_and_button_pages import back_to_page, form_page, service_button
from study.researchers.permissions import FORM_METHODS, study_page

NEWEST = 10
"""Number of runs on the page."""
MOST_PARTICIPANTS, MOST_AT_ONCE, MOST_SEED = 200, 8, 2**31 - 1
SHARES = {
    "drop_outs": ("Drop-outs, %", "They just stop somewhere."),
    "withdrawals": ("Withdrawals, %", "They withdraw with two clicks, and all their data are erased."),
    "refusals": ("Refusals, %", "They do not consent."),
    "fail_checks": (
        "Failed checks, %",
        "They fail the comprehension check. Everybody fails an attention check with the same chance.",
    ),
}
"""Label and help text of each share."""
CLOSED = {
    "closed": "The design is not ready for a dry run. First do what it lists as missing.",
    "spent": "The study's budget is spent, and the study then accepts no new participants. Raise the "
    "budget first.",
    "full": "The study already has as many programs as it accepts people. Erase the synthetic "
    "participants in the design first, or raise the limit under Recruitment.",
}
"""Advice before synthetic participants can enter, by the result of `why_study_closed`. A study that is closed
for them has problems, because a closed study whose design is ready takes them."""


def _share(label: str, help_text: str) -> forms.FloatField:
    field = forms.FloatField(label=label, help_text=help_text, min_value=0, max_value=100, initial=0)
    field.widget.attrs["step"] = "any"
    return field


class DryRunForm(forms.Form):
    """The form with the settings of a dry run. If it is valid, the dry run is possible."""

    participants = forms.IntegerField(
        min_value=1, max_value=MOST_PARTICIPANTS, initial=12, help_text=f"1 to {MOST_PARTICIPANTS}."
    )
    drop_outs, withdrawals, refusals, fail_checks = (_share(*words) for words in SHARES.values())
    at_once = forms.IntegerField(
        min_value=1,
        max_value=MOST_AT_ONCE,
        initial=2,
        help_text=f"How many take part at the same time, 1 to {MOST_AT_ONCE}. People who play at the same "
        "time share the machine with them.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MOST_SEED,
        help_text="It determines who the programs are and where each of them stops.",
    )
    like_people = forms.BooleanField(
        label="Play like the people of this study",
        required=False,
        help_text="The programs then pause, err and follow plans of their own as often as the people who "
        "have played here. Otherwise their errors are made up.",
    )
    known = forms.CharField(
        label="Effects on ratings",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seed"].initial = free_seed(study)
        self.fields["known"].help_text = _known_help(study)
        self.study = study

    def clean_known(self) -> KnownEffects:
        """Return the effects, one per line. Report the first line that cannot be read."""
        try:
            return parse_effects(line for line in self.cleaned_data["known"].split("\n") if line.strip())
        except ValueError as error:
            raise forms.ValidationError(f"{error}.") from error

    def clean_like_people(self) -> bool:
        """Return whether programs play like people. Report it if there is nobody to play like."""
        wanted: bool = self.cleaned_data["like_people"]
        if wanted and not has_people_to_fit(self.study):
            raise forms.ValidationError("Nobody has finished an episode here yet.")
        return wanted

    def clean(self) -> dict[str, Any]:
        """Return the cleaned settings, after checking that the dry run is possible. Each problem is shown at
        its field."""
        from study.pilot.bots.many_walkthroughs import CrowdOrder
        from study.pilot.dry_run_execution import DryRunRequestError, completed_crowd_settings

        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        if words := closed_advice(self.study):
            raise forms.ValidationError(words)
        try:
            order = CrowdOrder(
                **{name: value for name, value in self.chosen.items() if name != "like_people"}
            )
            completed_crowd_settings(self.study, order, url=settings.PUBLIC_URL)
        except DryRunRequestError as error:
            words = f"{error.words[0].upper()}{error.words[1:]}."
            self.add_error(next((one for one in error.fields if one in self.fields), None), words)
        return given

    @property
    def chosen(self) -> dict[str, Any]:
        """Return the settings as keyword arguments of `request_dry_run`."""
        given = self.cleaned_data
        shares = OutcomeShares(**{name: given[name] for name in SHARES})
        return {name: given[name] for name in ("participants", "seed", "at_once", "known", "like_people")} | {
            "shares": shares
        }


def _known_help(study: Study) -> str:
    """Return the help text of the field for effects, with the keys that an effect can name."""
    design = blueprint_of(study)
    ratings = [item.key for item in design.items_at("survey") if item.kind == "likert"]
    return (
        "To test whether the analysis finds an effect: one line for each, RATING:CONDITION=SHIFT. The shift "
        f"is a part of the scale, from -{MOST} to {MOST}. All other ratings are then alike in every "
        "condition. "
        f"Ratings: {', '.join(ratings) or 'none'}. "
        f"Conditions: {', '.join(one.key for one in design.conditions) or 'none'}."
    )


def closed_advice(study: Study) -> str:
    """Return what to do before programs can enter the study, or an empty string if they can enter."""
    why = why_study_closed(study, synthetic=True)
    if why == "closed":
        missing = blocking_problems(study)
        return " ".join([CLOSED["closed"], *(one.words for one in missing[:1])])
    return CLOSED.get(why, "")


def free_seed(study: Study) -> int:
    """Return the smallest seed that no synthetic participant and no dry run of the study has used."""
    labels = study.participants.filter(label__startswith="SYN-").values_list("label", flat=True)
    parts = [label.split("-") for label in labels]
    used = {int(part[1]) for part in parts if len(part) == 3 and part[1].isdecimal()}
    used |= set(study.dry_runs.values_list("seed", flat=True))
    return next(seed for seed in range(1, len(used) + 2) if seed not in used)


@study_page("view", FORM_METHODS, to_send="edit")
def dry_runs(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the newest dry runs and, for editors, the form that requests one. A POST requests a dry run.

    A page with an active run asks regularly for the changed list (`?seen=`).
    """
    if "seen" in request.GET:
        return _news(request, study)
    form = DryRunForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            request_dry_run(study_id=study.pk, user=request.user, **form.chosen)
        except DesignError as error:
            form.add_error(None, str(error))
        else:
            return back_to_page(request, study, "The dry run has been requested.", "design-dry-runs")
    closed = closed_advice(study)
    template = "study/pilot/dry_runs.html"
    more = {"closed": closed, "server": settings.PUBLIC_URL, **_shown(study), **_findings(study)}
    return form_page(request, study, form, heading="Dry run", template=template, **more)


def _shown(study: Study) -> dict[str, Any]:
    """Return the newest dry runs, and a token that changes whenever the page would show them differently.
    Only the newest run can be active."""
    runs = list(study.dry_runs.all()[:NEWEST])
    last = runs[0] if runs else None
    marks = (last.pk, last.state, last.done, bool(last.stopped_by), last.is_silent) if last else ()
    return {"runs": runs, "last": last, "seen": "-".join(str(mark) for mark in marks)}


def _news(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the list of dry runs as an HTML fragment. If the list equals the one with the token `seen` in
    the request, return status 204."""
    shown = _shown(study)
    if shown["seen"] == request.GET["seen"]:
        return HttpResponse(status=204)
    more = {"study": study, "oob": True, **_findings(study)}
    return render(request, "study/pilot/dry_runs_list.html", shown | more)


def _findings(study: Study) -> dict[str, Any]:
    """Return the template context with the results of dry runs: what the study cannot measure, and how many
    decisions came too late."""
    return {"tried": _unmeasured(study), "late": list(late_decision_warnings(study))}


def _unmeasured(study: Study) -> list[tuple[str, str]]:
    """Return (condition name, text) pairs about what a condition cannot measure. The reasons come from the
    condition's settings and from dry runs."""
    shown = dry_run_warnings(study)
    return [
        (row.name, words)
        for row, told in conditions_with_unmeasured(study)
        for words in (*told, *shown.get(row.key, ()))
    ]


@study_page("edit", ("POST",))
def dry_run_stopped(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Stop the dry run `pk`: no more synthetic participants are started. Participants under way continue."""
    run = get_object_or_404(study.dry_runs, pk=pk)
    words = "No more programs are sent. Those already taking part finish."
    return service_button(
        request, study, lambda: dry_run_stop(run=run, user=request.user), words, "design-dry-runs"
    )
