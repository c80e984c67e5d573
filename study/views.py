"""The participants' pages. One link each for the study and for the person; the flow says what it shows."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from kitchen.views import play_page
from kitchen.worlds.registry import get_page, get_world
from study import flow, services
from study.forms import ConsentForm, SurveyForm
from study.markdown import to_html
from study.models import Participant, Round, Study

COOKIE_SALT = "brigade.participant"
COOKIE_SECONDS = 90 * 24 * 3600


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """What this server is, and the studies that take participants."""
    return render(request, "study/home.html", {"studies": Study.objects.filter(status=Study.Status.OPEN)})


@never_cache
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest, slug: str) -> HttpResponse:
    """The study's link: welcome and consent. Opening it starts nobody; who is in already goes on."""
    study = get_object_or_404(Study, slug=slug)
    if known := _known_participant(request, study):
        return redirect(known)
    if study.status != Study.Status.OPEN or not study.conditions.exists():
        return _closed(request, study)
    form = ConsentForm(
        request.POST or None, study=study, initial={"invitation": request.GET.get("invitation", "")}
    )
    if request.method == "POST" and form.is_valid():
        return _let_in(request, study, form)
    context = {
        "study": study,
        "form": form,
        "welcome_html": to_html(study.welcome),
        "consent_html": to_html(study.consent),
    }
    return render(request, "study/welcome.html", context, status=422 if form.errors else 200)


def _closed(request: HttpRequest, study: Study) -> HttpResponse:
    return render(request, "study/closed.html", {"study": study}, status=403)


def _let_in(request: HttpRequest, study: Study, form: ConsentForm) -> HttpResponse:
    try:
        participant = services.participant_enter(
            study_id=study.pk, entry=form.cleaned_data["entry"], synthetic=form.cleaned_data["invitation"]
        )
    except services.StudyClosedError:
        return _closed(request, study)
    response = redirect(participant)
    response.set_cookie(
        _cookie_name(study),
        signing.dumps(participant.key, salt=COOKIE_SALT),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def _cookie_name(study: Study) -> str:
    return f"brigade_{study.pk}"


def _known_participant(request: HttpRequest, study: Study) -> Participant | None:
    """Who takes part in this study with this browser already."""
    try:
        key = signing.loads(request.COOKIES.get(_cookie_name(study), ""), salt=COOKIE_SALT)
    except signing.BadSignature:
        return None
    return study.participants.filter(key=key).first()


@never_cache
@require_http_methods(["GET", "POST"])
def participant(request: HttpRequest, key: str) -> HttpResponse:
    """The personal link: always the page that comes next. A form of a page that is over changes nothing."""
    person = get_object_or_404(Participant.objects.select_related("study"), key=key)
    place = flow.place_of(person)
    try:
        return PAGES[place.page](request, person, place)
    except Participant.DoesNotExist:  # withdrawn in another tab at this very moment
        raise Http404(key) from None


def _guide(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    if request.method == "POST" and request.POST.get("action") == "guide_read":
        services.guide_read(participant_id=person.pk)
        return redirect(person)
    first = person.rounds.select_related("condition").get(position=1)
    page, brief = get_page(first.condition.world), _brief(first)
    context = {
        "participant": person,
        "study": person.study,
        "world_guide": page.guide,
        "brief": brief,
        "handbook": page.handbook(brief),
        "teams": place.total,
    }
    return render(request, "study/guide.html", context)


def _brief(upcoming: Round) -> dict[str, object]:
    condition = upcoming.condition
    world = get_world(condition.world).create(seats=condition.teammates + 1, settings=condition.settings)
    return world.brief(0)


def _play(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    if request.method == "POST":
        return redirect(person)
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here with an episode only
    seat = place.round.episode.seats.get(number=place.round.seat)
    return play_page(
        request,
        seat=seat,
        continue_url=person.get_absolute_url(),
        leave_url=reverse("study:withdraw", args=[person.key]),
        participant=person,
        study=person.study,
        position=place.round.position,
        total=place.total,
    )


def _survey(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here after an episode only
    sent = request.method == "POST" and request.POST.get("round") == str(place.round.position)
    form = SurveyForm(request.POST if sent else None, items=person.study.items.all())
    if sent and form.is_valid():
        services.survey_submit(participant_id=person.pk, position=place.round.position, values=form.values())
        return redirect(person)
    if request.method == "POST" and not sent:
        return redirect(person)
    context = {
        "participant": person,
        "study": person.study,
        "form": form,
        "position": place.round.position,
        "total": place.total,
        "label": place.round.condition.label,
        "figures": get_page(place.round.episode.world).figures(place.round.episode.score),
    }
    return render(request, "study/survey.html", context, status=422 if form.errors else 200)


def _end(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    if request.method == "POST":
        return redirect(person)
    context = {
        "participant": person,
        "study": person.study,
        "code": person.completion_code,
        "end_html": to_html(person.study.ending),
    }
    return render(request, "study/end.html", context)


PAGES: dict[str, Callable[[HttpRequest, Participant, flow.Place], HttpResponse]] = {
    "end": _end,
    "guide": _guide,
    "play": _play,
    "survey": _survey,
}


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
