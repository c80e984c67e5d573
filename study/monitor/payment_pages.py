"""Serve the staff page on which bonuses are confirmed and paid, and the files for recruitment platforms."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.words.english_text import counted_noun
from study.design.blueprint import blueprint_of
from study.design.bonus_rule import bonus_rule_words
from study.design.metric_and_scale_names import study_figures
from study.design.models import Study
from study.monitor.extra_bonus import ExtraBonusError, ExtraBonusForm
from study.monitor.payment_actions import (
    PayRow,
    PayTotals,
    pay_rows,
    payments_confirm,
    payments_mark_paid,
)
from study.monitor.payment_files import FILES, left_out, with_id
from study.participants.bonuses import bonus_rule_of
from study.participants.participant_counts import study_counts
from study.participants.payments import Payment
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.models import SecurityEvent
from study.researchers.permissions import FORM_METHODS, READ_METHODS, has_right, study_page
from study.researchers.security_events import log_security_event

HERE = "study:staff-participants-pay"


@study_page("results", FORM_METHODS, to_send="own")
def pay(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the bonus of everybody who completed the study. An owner confirms amounts, gives one person an
    extra, and records that they were paid."""
    gives_extra = "give" in request.POST
    if request.method == "POST" and not gives_extra:
        _act(request, study)
        return redirect(HERE, study.slug)
    rows = pay_rows(study)
    form = _extra_form(request, study, rows)
    if gives_extra and _give_extra(request, study, form):
        return redirect(HERE, study.slug)
    unpaid = [row.payment for row in rows if row.payment and row.payment.state in Payment.UNPAID]
    labels = {one.name: one.label for one in study_figures(study)}
    context = {
        "study": study,
        "counts": study_counts(study),
        "rows": rows,
        "totals": PayTotals.of(rows),
        "open": sum(row.is_open for row in rows),
        "unpaid": unpaid,
        "rule": bonus_rule_words(bonus_rule_of(blueprint_of(study)), labels),
        "files": list(FILES),
        "left_out": left_out(unpaid),
        "may_pay": has_right(request.user, study, "own"),
        "may_edit": has_right(request.user, study, "edit"),
        "form": form,
    }
    return render(request, "study/monitor/pay.html", context, status=422 if form.errors else 200)


def _extra_form(request: HttpRequest, study: Study, rows: list[PayRow]) -> ExtraBonusForm:
    """Return the form for an extra, as it was sent or for the person that the address names."""
    rule = bonus_rule_of(blueprint_of(study))
    currency = rule.currency if rule else PayTotals.of(rows).currency
    sent = request.POST if "give" in request.POST else None
    return ExtraBonusForm(sent, rows=rows, code=request.GET.get("extra", ""), currency=currency)


def _give_extra(request: HttpRequest, study: Study, form: ExtraBonusForm) -> bool:
    """Add the extra that the form has. Return False if the form has an error."""
    if not form.is_valid():
        return False
    try:
        payment = form.save(study=study, user=request.user)
    except ExtraBonusError:
        return False
    messages.success(request, f"Confirmed with the extra: {payment}.")
    return True


def _act(request: HttpRequest, study: Study) -> None:
    codes = request.POST.getlist("who")
    if CONFIRM_FIELD not in request.POST or not codes:
        messages.error(request, NOT_CONFIRMED if codes else "Nothing was done: choose at least one person.")
    elif "paid" in request.POST:
        done = payments_mark_paid(study=study, user=request.user, codes=codes)
        messages.success(request, f"Recorded as paid: {counted_noun(done, 'bonus', 'bonuses')}.")
    else:
        amounts = {code: request.POST.get(f"amount-{code}", "") for code in codes}
        done, rest = payments_confirm(study=study, user=request.user, amounts=amounts)
        words = f"Confirmed: {counted_noun(done, 'bonus', 'bonuses')}."
        if rest:
            words += f" {rest} had another amount by now, or were confirmed before: look again."
        (messages.success if done else messages.warning)(request, words)


@study_page("results", READ_METHODS)
def pay_file(request: HttpRequest, study: Study, file: str) -> HttpResponse:
    """Return a file with all confirmed bonuses that are not paid, for a recruitment platform."""
    if file not in FILES:
        raise Http404(file)
    waiting = Payment.objects.filter(study=study, state__in=Payment.UNPAID).select_related("participant")
    if (
        file == "prolific.txt"
        and len({one.currency for one in with_id(waiting, Study.Recruitment.PROLIFIC)}) > 1
    ):
        messages.error(request, "These bonuses have several currencies, and Prolific pays a study in one.")
        return redirect(HERE, study.slug)
    downloaded = SecurityEvent.Kind.DATA_DOWNLOADED
    log_security_event(downloaded, study=study, what=f"bonuses {file}", request=request)
    kind = "text/csv" if file.endswith(".csv") else "text/plain"
    response = HttpResponse(FILES[file](waiting), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-bonuses-{file}"'
    return response
