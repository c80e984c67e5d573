"""Serve the page on which members define codes, choose raters and episodes, and compare released marks."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.validators import RegexValidator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.words.english_text import counted_noun
from study.analysis.annotation_agreement import annotation_agreement
from study.design.models import Study
from study.monitor import annotation_services as services
from study.participants.annotations import (
    AnnotationCode,
    AnnotationPlan,
    EpisodeRating,
    Rater,
    is_revealed,
)
from study.participants.participant_counts import study_counts
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import FORM_METHODS, has_right, study_page

HERE = "study:staff-participants-annotation"


class CodeForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for one code."""

    class Meta:
        model = AnnotationCode
        fields = ("name", "key", "colour", "description")
        widgets = {"description": forms.Textarea({"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key"].validators.append(RegexValidator("^[a-z]$", "Write one letter from a to z."))
        self.fields["key"].widget.attrs["autocomplete"] = "off"


class RatersForm(forms.Form):
    """A form for who rates, and which episodes."""

    raters = forms.ModelMultipleChoiceField(
        User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Owners and collaborators of the study. A rater stays one.",
    )
    share = forms.IntegerField(min_value=1, max_value=100, label="Percent of the episodes that are rated")
    overlap = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Percent of these that every rater rates",
        help_text="The others are dealt out evenly. Both are drawn at random.",
    )
    unit = forms.ChoiceField(choices=AnnotationPlan.Unit.choices, label="Unit of agreement")
    with_programs = forms.BooleanField(required=False, label="Rate synthetic episodes, too")

    def __init__(self, data: Any = None, *, study: Study) -> None:
        plan = AnnotationPlan.objects.filter(study=study).first() or AnnotationPlan(study=study, seed=0)
        names = ("share", "overlap", "unit", "with_programs")
        now = list(study.raters.values_list("user", flat=True))
        super().__init__(data, initial={"raters": now, **{name: getattr(plan, name) for name in names}})
        self.fields["raters"].queryset = services.possible_raters(study)  # type: ignore[attr-defined]

    @property
    def plan(self) -> dict[str, Any]:
        """Return the chosen fields of the plan."""
        return {name: value for name, value in self.cleaned_data.items() if name != "raters"}


@study_page("results", FORM_METHODS, to_send="edit")
def annotation(request: HttpRequest, study: Study) -> HttpResponse:
    """Show codes, raters, progress and agreement. Collaborators change codes and release their own marks;
    owners choose the raters and release for all."""
    chosen = _code(study, request.GET.get("code", ""))
    if _is_blind(request, study):
        chosen = None
    code_form, raters_form = CodeForm(instance=chosen), RatersForm(study=study)
    if request.method == "POST":
        if "raters_form" in request.POST:
            _owner_only(request, study)
            raters_form = RatersForm(request.POST, study=study)
            if raters_form.is_valid():
                return _assign(request, study, raters_form)
        elif "code_form" in request.POST:
            code_form = CodeForm(request.POST, instance=chosen or AnnotationCode())
            if code_form.is_valid() and _saved(study, code_form):
                messages.success(request, f"“{code_form.cleaned_data['name']}” is saved.")
                return redirect(HERE, study.slug)
        else:
            _press(request, study)
            return redirect(HERE, study.slug)
    return _page(request, study, chosen, code_form, raters_form)


def _saved(study: Study, form: CodeForm) -> bool:
    try:
        services.code_save(study=study, code_id=form.instance.pk, values=form.cleaned_data)
    except services.AnnotationError as error:
        form.add_error(None, str(error))
        return False
    return True


def _assign(request: HttpRequest, study: Study, form: RatersForm) -> HttpResponse:
    new = services.raters_assign(study=study, users=form.cleaned_data["raters"], plan=form.plan)
    messages.success(
        request, f"Saved. {counted_noun(new, 'rating')} newly dealt out: one for each episode and rater."
    )
    return redirect(HERE, study.slug)


def _press(request: HttpRequest, study: Study) -> None:
    """Carry out one of the page's buttons, and tell the user."""
    sent = request.POST
    if CONFIRM_FIELD not in sent and "restore" not in sent:
        messages.error(request, NOT_CONFIRMED)
    elif "release_all" in sent:
        _owner_only(request, study)
        services.marks_release(study=study)
        messages.success(request, "All marks are released.")
    elif "release" in sent:
        if services.marks_release(study=study, user=request.user):  # type: ignore[arg-type]
            messages.success(request, "Your marks are released.")
        else:
            messages.error(request, "Nothing was done: you have no marks to release.")
    elif code := _code(study, sent.get("remove", sent.get("restore", ""))):
        try:
            _remove_or_restore(request, study, code)
        except services.AnnotationError as error:
            messages.error(request, str(error))


def _remove_or_restore(request: HttpRequest, study: Study, code: AnnotationCode) -> None:
    if "restore" in request.POST:
        services.code_restore(study=study, code_id=code.pk)
        messages.success(request, f"“{code}” is offered again.")
    elif services.code_remove(study=study, code_id=code.pk, retire=_is_blind(request, study)):
        messages.success(request, f"“{code}” is deleted.")
    else:
        messages.success(request, f"“{code}” is retired. Marks with it stay.")


def _is_blind(request: HttpRequest, study: Study) -> bool:
    """Return whether this user must not know which codes the other raters use: a rater who does not own the
    study, until all marks are revealed."""
    rates = study.raters.filter(user=request.user.pk).exists()
    return rates and not is_revealed(study) and not has_right(request.user, study, "own")


def _owner_only(request: HttpRequest, study: Study) -> None:
    if not has_right(request.user, study, "own"):
        raise PermissionDenied


def _code(study: Study, given: str) -> AnnotationCode | None:
    number = int(given) if given.isdecimal() and len(given) < 10 else 0
    return AnnotationCode.objects.filter(study=study, pk=number).first()


def _page(
    request: HttpRequest,
    study: Study,
    chosen: AnnotationCode | None,
    code_form: CodeForm,
    raters_form: RatersForm,
) -> HttpResponse:
    revealed = is_revealed(study)
    mine = Rater.objects.filter(study=study, user=request.user.pk).first()
    counted = Count("ratings"), Count("ratings", filter=Q(ratings__done_at__isnull=False))
    raters = study.raters.annotate(all=counted[0], done=counted[1])
    own = EpisodeRating.objects.filter(rater=mine).select_related("episode").annotate(n=Count("marks"))
    context = {
        "study": study,
        "counts": study_counts(study),
        "codes": AnnotationCode.objects.filter(study=study).annotate(used=Count("marks")),
        "blind": _is_blind(request, study),
        "chosen": chosen,
        "code_form": code_form,
        "raters_form": raters_form,
        "form": code_form if code_form.errors else raters_form,
        "raters": raters,
        "mine": mine,
        "own": own if mine else [],
        "revealed": revealed,
        "agreement": annotation_agreement(study) if revealed else [],
        "plan": AnnotationPlan.objects.filter(study=study).first(),
        "may_edit": has_right(request.user, study, "edit"),
        "may_own": has_right(request.user, study, "own"),
    }
    status = 422 if code_form.errors or raters_form.errors else 200
    return render(request, "study/monitor/annotation.html", context, status=status)
