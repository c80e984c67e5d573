"""The participants' pages. One link each for the study and for the person; the flow says what it shows."""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from study import flow, services
from study.blueprint import blueprint_of
from study.forms import PREVIEW, SYNTHETIC, EntryForm
from study.markdown import to_html
from study.models import Participant, Study
from study.pages import PAGES
from study.recruitment import ReferralError, referral_of

COOKIE_SALT = "brigade.participant"
COOKIE_SECONDS = 90 * 24 * 3600


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """What this server is, and the studies that take participants."""
    return render(request, "study/home.html", {"studies": Study.objects.filter(status=Study.Status.OPEN)})


@never_cache
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest, slug: str) -> HttpResponse:
    """The study's link: a welcome with a button. Opening it starts nobody; who is in already goes on."""
    study = get_object_or_404(Study, slug=slug)
    if known := _known_participant(request, study):
        return redirect(known)
    form = EntryForm(
        request.POST or None, study=study, initial={"invitation": request.GET.get("invitation", "")}
    )
    if request.method == "POST" and form.is_valid():
        return _let_in(request, study, form)
    if not request.GET.get("invitation") and not services.study_takes(study):
        return _closed(request, study)
    return _welcome(request, study, form, status=422 if form.errors else 200)


def _welcome(
    request: HttpRequest, study: Study, form: EntryForm, *, problem: str = "", status: int = 200
) -> HttpResponse:
    part = blueprint_of(study).part("welcome")
    context = {
        "study": study,
        "form": form,
        "problem": problem,
        "heading": part.title or study.title,
        "welcome_html": to_html(part.text),
    }
    return render(request, "study/welcome.html", context, status=status)


def _closed(request: HttpRequest, study: Study) -> HttpResponse:
    return render(request, "study/closed.html", {"study": study}, status=403)


def _let_in(request: HttpRequest, study: Study, form: EntryForm) -> HttpResponse:
    invited = form.cleaned_data["invitation"]
    try:
        person = services.participant_enter(
            study_id=study.pk,
            entry=form.cleaned_data["entry"],
            synthetic=invited == SYNTHETIC,
            preview=invited == PREVIEW,
            referral=services.Referral() if invited == PREVIEW else referral_of(study, request.GET.dict()),
        )
    except services.StudyClosedError:
        return _closed(request, study)
    except ReferralError as error:
        return _welcome(request, study, form, problem=str(error), status=422)
    response = redirect(person)
    response.set_cookie(
        _cookie_name(study),
        signing.dumps(person.key, salt=COOKIE_SALT),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def _cookie_name(study: Study) -> str:
    return f"brigade_{study.pk}"


def _known_participant(request: HttpRequest, study: Study) -> Participant | None:
    """Who takes part in this study with this browser already, unless the link names somebody else."""
    try:
        key = signing.loads(request.COOKIES.get(_cookie_name(study), ""), salt=COOKIE_SALT)
    except signing.BadSignature:
        return None
    known = study.participants.filter(key=key).first()
    try:
        label = referral_of(study, request.GET.dict()).label
    except ReferralError:
        return known
    return known if known and (not label or known.label in {"", label}) else None


@never_cache
@require_http_methods(["GET", "POST"])
def participant(request: HttpRequest, key: str) -> HttpResponse:
    """The personal link: always the page that comes next. A form of a page that is over changes nothing."""
    person = get_object_or_404(Participant.objects.select_related("study", "version"), key=key)
    place = flow.place_of(person)
    try:
        if request.method == "GET":
            services.page_opened(participant_id=person.pk, page=place.page, position=place.position)
        return PAGES[place.page](request, person, place)
    except Participant.DoesNotExist:  # withdrawn in another tab at this very moment
        raise Http404(key) from None


@never_cache
@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Leaving the study: asked once, then everything is erased and a receipt is shown."""
    person = get_object_or_404(Participant.objects.select_related("study"), key=key)
    if request.method == "POST" and request.POST.get("confirm") == "yes":
        try:
            receipt = services.participant_withdraw(participant_id=person.pk)
        except Participant.DoesNotExist:  # the second of two clicks
            raise Http404(key) from None
        response = render(
            request, "study/withdrawn.html", {"study": person.study, "code": receipt.code, "when": receipt.at}
        )
        response.delete_cookie(_cookie_name(person.study))
        return response
    return render(request, "study/withdraw.html", {"participant": person, "study": person.study})
