"""Handle requests to participants' URLs: the study link, personal links, the lobby, and withdrawal.

The module also handles signals that the pages' scripts send. `PAGES` maps each page of a study to its view.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kitchen.play.models import Episode
from study.design.models import Study
from study.design.page_and_item_order import LOBBY, READY, WAITING, own_page
from study.design.part_rules import survey_rule
from study.design.recruitment_platforms import Referral, ReferralError, is_only_looking, referral_of
from study.design.study_errors import EntryPausedError, StudyClosedError, TookPartError
from study.participants import next_page
from study.participants.current_breaks import is_resting
from study.participants.entry_limits import current_pause, seconds_until, waits_for_clocks
from study.participants.models import Participant
from study.participants.staff_messages import messages_read
from study.participation.device_records import device_fields, record_device, visit_to_record
from study.participation.enter_study import (
    MINUTE,
    SYNTHETIC,
    WINDOW_SECONDS,
    EntryForm,
    known_participant,
    participant_enter,
    too_many_entries,
    too_many_name_queries,
    uncounted_entries,
    why_study_closed,
)
from study.participation.entry_round_trip import UNMEASURED, is_missing, is_too_slow
from study.participation.group_lobby import leave_lobby
from study.participation.idle_timeout import idle_clock, participant_here, timed_out_if_late
from study.participation.language_choice import activate_language
from study.participation.lobby_practice import pause_kitchen
from study.participation.page_progress import is_waiting, page_opened, participant_of_key, survey_left_out
from study.participation.pages import (
    consent_guide_debriefing,
    end_and_privacy_pages,
    own_page_view,
    play_pages,
    survey_pages,
)
from study.participation.pages.end_and_privacy_pages import (
    already_took_part,
    remember_finished,
    withdraw_page,
    withdrawn_page,
)
from study.participation.pages.microphone_page import MICROPHONE
from study.participation.pages.page_context import guest_reminder, welcome_context
from study.participation.pages.play_pages import lobby_state
from study.participation.pages.ready_page import is_ready_card_due
from study.participation.prolific_entry_links import TOKEN, cookie_of, link_parameters, redirect_without_token
from study.participation.signed_cookies import set_signed_cookie, signed_cookie
from study.participation.sound_uploads import sound_answer

PageView = Callable[[HttpRequest, Participant, next_page.CurrentPage], HttpResponse]
PAGES: dict[str, PageView] = {
    "about": survey_pages.about_person,
    "check": survey_pages.check,
    "consent": consent_guide_debriefing.consent,
    "debriefing": consent_guide_debriefing.debriefing,
    "end": end_and_privacy_pages.end,
    "final": survey_pages.final,
    "guide": consent_guide_debriefing.guide,
    "lobby": play_pages.lobby_page,
    "play": play_pages.play,
    "practice": play_pages.practice,
    "survey": survey_pages.survey,
    "waiting": play_pages.waiting,
}
"""View of each page, by the name of the page. Pages that researchers wrote have a view in common."""

FURTHER_FORMS = {LOBBY: (WAITING, MICROPHONE), "play": (READY, MICROPHONE)}
"""Forms that may be sent on a page besides its own: those of pages that can be shown in its place."""

COOKIE_SALT = "brigade.participant"
COOKIE_SECONDS = 90 * 24 * 3600


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show the home page of this server, with a list of the open studies."""
    return render(
        request, "study/participation/home.html", {"studies": Study.objects.filter(status=Study.Status.OPEN)}
    )


@never_cache
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the welcome page at a study's link, with a button to enter. Only the button creates a
    participant. A browser that already has a participant is redirected to the participant's page."""
    study = get_object_or_404(Study, slug=slug)
    activate_language(request, study)
    if TOKEN in request.GET:
        return redirect_without_token(request, study)
    if known := _known_participant(request, study):
        return redirect(known)
    form = EntryForm(
        request.POST or None, study=study, initial={"invitation": request.GET.get("invitation", "")}
    )
    if request.method == "POST" and form.is_valid():
        return _let_in(request, study, form)
    if form.initial["invitation"]:
        return _welcome(request, study, form, status=422 if form.errors else 200)
    return _show_entry(request, study, form)


def _show_entry(request: HttpRequest, study: Study, form: EntryForm) -> HttpResponse:
    """Show the study's welcome page. If this link does not allow entry, show a page with the reason and
    without a button."""
    if is_only_looking(study, request.GET.dict()):
        return _welcome(request, study, form, looking=True)
    try:
        referral = referral_of(study, link_parameters(request, study))
    except ReferralError as error:
        return _welcome(request, study, form, problem=str(error), status=422)
    if too_many_name_queries(request, study, referral):
        return _later(request, study, form, MINUTE)
    if over := already_took_part(request, study, referral):
        return over
    label = referral.label
    returns = bool(label) and study.participants.filter(label=label).exists()
    if not returns and why_study_closed(study):
        return _closed(request, study)
    if not returns and (pause := current_pause(study)):
        return _later(request, study, form, seconds_until(pause.until))
    if not returns and waits_for_clocks(study):
        return _later(request, study, form, MINUTE)
    return _welcome(request, study, form, returns=returns, status=422 if form.errors else 200)


def _welcome(
    request: HttpRequest,
    study: Study,
    form: EntryForm,
    *,
    problem: str = "",
    looking: bool = False,
    returns: bool = False,
    status: int = 200,
) -> HttpResponse:
    context = welcome_context(study) | {
        "form": form,
        "problem": problem,
        "looking": looking,
        "returns": returns,
    }
    return render(request, "study/participation/welcome.html", context, status=status)


def _closed(request: HttpRequest, study: Study, *, entered: bool = False) -> HttpResponse:
    """Show a page that says why the study takes no new participant. If `entered` is True, the page says
    that others took the last place."""
    context = {"study": study, "why": "full" if entered else why_study_closed(study), "entered": entered}
    return render(request, "study/participation/closed.html", context, status=403)


def _later(request: HttpRequest, study: Study, form: EntryForm, seconds: float) -> HttpResponse:
    """Show a page that asks the person to return later, because too many people are entering. The person
    can send the same form again after `seconds`."""
    minutes = max(1, math.ceil(seconds / 60))
    context = {"study": study, "form": form, "minutes": minutes}
    response = render(request, "study/participation/later.html", context, status=429)
    response["Retry-After"] = str(60 * minutes)
    return response


def _too_slow(request: HttpRequest, study: Study, measured: int | None) -> HttpResponse:
    """Show a page that says that the person's round trip is longer than the study allows. Nothing about the
    person is stored."""
    context = {"study": study, "measured": measured}
    return render(request, "study/participation/slow.html", context, status=403)


def _let_in(request: HttpRequest, study: Study, form: EntryForm) -> HttpResponse:
    invited, entry = form.cleaned_data["invitation"], form.cleaned_data["entry"]
    try:
        referral = _referral(request, study, invited)
        is_new = not invited and known_participant(study, entry, referral) is None
        if refused := _refused(request, study, form, referral, is_new=is_new):
            return refused
        person = participant_enter(
            study_id=study.pk,
            entry=entry,
            synthetic=invited == SYNTHETIC,
            referral=referral,
            welcomed_at=form.opened_at,
            uncounted=uncounted_entries(request, study) if is_new else 0,
            language=translation.get_language(),
            round_trip_ms=form.cleaned_data.get("trip"),
        )
    except StudyClosedError:
        return _closed(request, study)
    except EntryPausedError as pause:
        return _later(request, study, form, seconds_until(pause.until))
    except ReferralError as error:
        return _welcome(request, study, form, problem=str(error), status=422)
    except TookPartError:
        return already_took_part(request, study, referral) or redirect(study)
    response = redirect(person)
    set_signed_cookie(
        response, _cookie_name(study), person.shown_key, salt=COOKIE_SALT, max_age=COOKIE_SECONDS
    )
    return response


def _refused(
    request: HttpRequest, study: Study, form: EntryForm, referral: Referral, *, is_new: bool
) -> HttpResponse | None:
    """Return a page that says why the sender of this form cannot enter now, or cannot enter at all. Return
    None if they can."""
    if not is_new:
        return (
            _later(request, study, form, MINUTE) if too_many_name_queries(request, study, referral) else None
        )
    round_trip_ms = form.cleaned_data.get("trip")
    if is_missing(study, round_trip_ms):
        form.add_error(None, UNMEASURED)
        return _welcome(request, study, form, status=422)
    if is_too_slow(study, round_trip_ms):
        return _too_slow(request, study, round_trip_ms)
    if waits_for_clocks(study):
        return _later(request, study, form, MINUTE)
    return _later(request, study, form, WINDOW_SECONDS) if too_many_entries(request, study) else None


def _referral(request: HttpRequest, study: Study, invited: str) -> Referral:
    """Return the origin of the participant, read from the link. An invited program (`invited`) needs no
    valid origin, but its link may contain a label."""
    try:
        return referral_of(study, link_parameters(request, study))
    except ReferralError:
        if not invited:
            raise
        return Referral()


def _cookie_name(study: Study) -> str:
    return f"brigade_{study.pk}"


def _known_participant(request: HttpRequest, study: Study) -> Participant | None:
    """Return the participant of this study who already uses this browser. Return None if there is none.

    There are three more cases of None. The participant refused consent, which erases the identity. The link
    names somebody else. The link is signed, and the browser belongs to a guest.
    """
    known = _in_cookie(request, study)
    try:
        referral = referral_of(study, link_parameters(request, study))
    except ReferralError:
        return known
    if known is None or known.status == known.Status.NO_CONSENT or (known.as_guest and referral.vouched):
        return None
    label = referral.label
    return None if label and known.label not in ("", label) else known


def _in_cookie(request: HttpRequest, study: Study) -> Participant | None:
    """Return the participant of this study whose key is stored in this browser's cookie. Return None if
    there is none."""
    key = signed_cookie(request, _cookie_name(study), salt=COOKIE_SALT)
    known = participant_of_key(key) if key else None
    return known if known and known.study_id == study.pk else None


@never_cache
@require_http_methods(["GET", "POST"])
def participant(request: HttpRequest, key: str) -> HttpResponse:
    """Show the participant's current page at the personal link. A submitted form of a page that is already
    finished changes nothing."""
    person = _person(request, key)
    try:
        person = timed_out_if_late(person)
        place = next_page.current_page(person)
        if request.method == "GET" and _is_survey_left_out(person, place.page):
            return redirect(person)
        forms = {place.page, *FURTHER_FORMS.get(place.page, ())}
        if request.method == "POST" and request.POST.get("page") not in forms:
            return redirect(person)
        breaks = request.method == "GET" and place.page == LOBBY and is_waiting(person)
        page, position = WAITING if breaks else place.page, place.position
        page = READY if is_ready_card_due(person, place) else page
        if request.method == "GET":
            page_opened(person=person, page=page, position=position, **device_fields(request, person))
        person.reported_visit = visit_to_record(person, page, position)
        return remember_finished(_view(person, place.page)(request, person, place), request, person)
    except StudyClosedError:
        return _closed(request, person.study, entered=True)
    except Participant.DoesNotExist:  # withdrawn in another tab at this moment
        raise Http404(key) from None


def _is_survey_left_out(person: Participant, page: str) -> bool:
    """Return whether this page is a survey that its rule leaves out now."""
    has_rule = page == "survey" and survey_rule(person.version.blueprint) is not None
    return has_rule and survey_left_out(participant_id=person.pk)


def _view(person: Participant, page: str) -> PageView:
    return own_page_view.own_page_view if own_page(person.version.blueprint, page) else PAGES[page]


def _person(request: HttpRequest, key: str) -> Participant:
    """Return the participant with this key, and activate the participant's language. Raises Http404 for an
    unknown key.

    With a guest key, the browser's cookie decides whether the user is a guest, if it belongs to the same
    participant.
    """
    person = participant_of_key(key)
    if person is None:
        raise Http404(key)
    if person.as_guest and (known := _in_cookie(request, person.study)) and known.pk == person.pk:
        person.as_guest = known.as_guest
    activate_language(request, person.study, person)
    return person


@never_cache
@require_http_methods(["GET", "POST"])
def still_here(request: HttpRequest, key: str) -> JsonResponse:
    """Answer the page's script with the seconds until the idle warning and until the timeout. On request, the
    answer says whether the next round waits for the budget.

    A POST without `page` means that the participant is present. A POST with `page` only reports data about
    the page.
    """
    try:
        person = _person(request, key)
        if "page" in request.POST and not record_device(request=request, person=person):
            return JsonResponse({}, status=422)
        is_there = request.method == "POST" and "page" not in request.POST
        person = participant_here(person=person) if is_there else timed_out_if_late(person)
    except Participant.DoesNotExist:  # withdrawn in another tab at this moment
        raise Http404(key) from None
    answer = {"active": person.status == person.Status.ACTIVE, **asdict(idle_clock(person))}
    if "waiting" in request.GET:
        answer["waiting"] = is_waiting(person)
    if "break" in request.GET:
        answer["resting"] = is_resting(person)
    return JsonResponse(answer)


@never_cache
@require_POST
def lobby_signal(request: HttpRequest, key: str) -> JsonResponse:
    """Return the lobby's state for the page's script. A request with `gone` records that the page was
    closed."""
    try:
        person = timed_out_if_late(_person(request, key))
        if (load := request.POST.get("gone", "")).isdecimal() and len(load) < 9:
            if leave_lobby(participant_id=person.pk, load=int(load)):
                pause_kitchen(person)
            return JsonResponse({})
        return lobby_state(person)
    except Participant.DoesNotExist:  # withdrawn in another tab at this moment
        raise Http404(key) from None


@never_cache
@require_POST
def message_confirmed(request: HttpRequest, key: str) -> HttpResponse:
    """Store that the participant has read the messages of staff, and show the current page again. A guest
    sees no messages, and confirms none."""
    person, newest = _person(request, key), request.POST.get("newest", "")
    if newest.isdecimal() and len(newest) < 19 and not person.as_guest:
        messages_read(person=person, newest=int(newest))
    return redirect(person)


@never_cache
@require_POST
def sound(request: HttpRequest, key: str, episode: UUID) -> JsonResponse:
    """Store a piece of sound that a play page recorded in this episode of the participant."""
    person = _person(request, key)
    played = Episode.objects.filter(rounds__participant=person, key=episode).first()
    try:
        return sound_answer(request, person, played)
    except Participant.DoesNotExist:  # withdrawn in another tab at this moment
        raise Http404(key) from None


@never_cache
@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Show the withdrawal page. After the participant confirms, erase everything and show a receipt.

    A guest instead sees which further proof is needed.
    """
    person = _person(request, key)
    if person.as_guest:
        return guest_reminder(request, person)
    if request.method == "POST" and request.POST.get("confirm") == "yes":
        try:
            response = withdrawn_page(request, person)
        except Participant.DoesNotExist:  # the second of two clicks
            raise Http404(key) from None
        response.delete_cookie(_cookie_name(person.study))
        response.delete_cookie(cookie_of(person.study), path=person.study.get_absolute_url())
        return response
    return withdraw_page(request, person)
