"""For whoever comes by a name whose part in the study is over: nobody begins again."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.design.models import Study
from study.design.recruitment import Referral
from study.people.models import Participant
from study.people.took_part import left_before


def already(request: HttpRequest, study: Study, referral: Referral) -> HttpResponse | None:
    """The last page for who proves by a signed link that they are it; for others, who may only know the name,
    that somebody took part, and no more. None if nobody of this name has come to an end."""
    if not referral.label:
        return None
    over = study.participants.exclude(status=Participant.Status.ACTIVE)
    person = over.filter(label=referral.label).first()
    if person and referral.vouched:
        return redirect(person)
    left = left_before(study.pk, referral.label)
    if not person and not left:
        return None
    code = left.code if left and referral.vouched else ""
    context = {"study": study, "code": code, "gone": left is not None and referral.vouched}
    return render(request, "study/taking_part/already.html", context, status=403)
