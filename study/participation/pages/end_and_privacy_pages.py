"""Show participants the last page, the withdrawal pages, and a page that lists the data a study stores.

The last page has the completion code, or the address to which participants return. A guest is a participant
who is known only by a label in the link. Guests see the code only in the browser in which they finished. A
signed cookie identifies this browser.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.words.gettext_without_django import gettext, gettext_noop
from study.design.blueprint import OUTCOMES
from study.design.bonus_rule import Bonus
from study.design.models import Outcome, Study
from study.design.own_pages import OwnPagePlan, screen_out_reason
from study.design.recruitment_platforms import RECRUITMENT_PLACES, Referral
from study.participants import next_page
from study.participants.bonuses import bonus_of, bonus_rule_of
from study.participants.end_and_erase_participation import (
    NO_REENTRY_STATUSES,
    PAID_STATUSES,
    RETURNED,
    completion_of,
    participant_withdraw,
)
from study.participants.models import Participant
from study.participants.personal_data_register import ERASED_DATA, STORED_BESIDE, STORED_DATA, settings_on
from study.participation.enter_study import why_study_closed
from study.participation.language_choice import activate_language
from study.participation.pages.page_context import (
    filled,
    media_for,
    page_response,
    part_context,
    plays_with_people,
    text_html,
)
from study.participation.signed_cookies import set_signed_cookie, signed_cookie


def already_took_part(request: HttpRequest, study: Study, referral: Referral) -> HttpResponse | None:
    """Return a page for a person whose label belongs to a finished participation. Return None if there is no
    such participation.

    With a signed link, the person sees the last page of this participation. Without one, the page only says
    that somebody took part: other people may know the label.
    """
    if not referral.label:
        return None
    over = study.participants.exclude(status=Participant.Status.ACTIVE)
    person = over.filter(label=referral.label).first()
    if person and referral.vouched:
        return redirect(person)
    left = completion_of(study.pk, referral.label)
    if not person and not left:
        return None
    code = left.code if left and referral.vouched else ""
    context = {"study": study, "code": code, "gone": left is not None and referral.vouched}
    return render(request, "study/participation/already.html", context, status=403)


FINISHED_COOKIE = "brigade_finished"
FINISHED_SALT = "brigade.finished"


def remember_finished(response: HttpResponse, request: HttpRequest, person: Participant) -> HttpResponse:
    """Return the response. If a guest finished the study with this request, a signed cookie is added that
    remembers this. `person` is the participant before the request."""
    active = Participant.Status.ACTIVE
    if not (person.as_guest and request.method == "POST" and person.status == active):
        return response
    if not Participant.objects.filter(pk=person.pk, status=active).exists():
        path = person.get_absolute_url()
        set_signed_cookie(response, FINISHED_COOKIE, person.shown_key, salt=FINISHED_SALT, path=path)
    return response


LABEL_COOKIE = "brigade_label"
LABEL_COOKIE_SALT = "brigade.label"


def remember_label(response: HttpResponse, person: Participant) -> HttpResponse:
    """Return the response with a cookie that has the participant's label, for a person who refused consent.
    `person` is the participant before the request."""
    if person.label:
        value, path = [person.shown_key, person.label], person.get_absolute_url()
        set_signed_cookie(response, LABEL_COOKIE, value, salt=LABEL_COOKIE_SALT, path=path)
    return response


WORDS = {
    "no_consent": (
        gettext_noop("You are not taking part"),
        gettext_noop("We kept nothing that identifies you. Thank you for your interest."),
    ),
    "failed_check": (
        gettext_noop("The study ends here"),
        gettext_noop("You did not answer all comprehension questions correctly. Thank you for your time."),
    ),
    "timed_out": (
        gettext_noop("The study has ended"),
        gettext_noop("You were inactive for a long time, so your place was given to somebody else."),
    ),
    "technical": (
        gettext_noop("The study has ended"),
        gettext_noop("The researchers ended the study for a technical reason."),
    ),
    "unmatched": (
        gettext_noop("Nobody came to play with you"),
        gettext_noop(
            "The people you were going to play with did not come or have left. Thank you for waiting."
        ),
    ),
    "no_place": (
        gettext_noop("This study has no place left for you"),
        gettext_noop(
            "Enough people who gave the same answers already take part. Thank you for your answers."
        ),
    ),
    "screened_out": (
        gettext_noop("The study ends here for you"),
        gettext_noop("This study looks for people with other answers. Thank you for your time."),
    ),
    "late_return": (
        gettext_noop("The time to come back is over"),
        gettext_noop(
            "You could continue this study until a certain time. Thank you for what you did so far."
        ),
    ),
}
"""Heading and text of each end except completion."""
WORDS_OF_RETURNED = (
    gettext_noop("The study has ended"),
    gettext_noop("You returned your submission on Prolific, so the study ended here. You get no code."),
)
"""Heading and text for people who returned their submission. They get neither the code nor the text of a
timeout."""


def end(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the last page with the text, code and address of the participant's outcome."""
    if request.method == "POST":
        return redirect(person)
    finished = signed_cookie(request, FINISHED_COOKIE, salt=FINISHED_SALT)
    if person.as_guest and finished != person.shown_key:
        return page_response(request, person, "ended_elsewhere")
    key, label = signed_cookie(request, LABEL_COOKIE, salt=LABEL_COOKIE_SALT) or ("", "")
    label = person.label or (str(label) if key == person.shown_key else "")
    media = media_for(person)
    context = outcome_context(person, label)
    if person.end_reason == RETURNED:
        heading, words = map(gettext, WORDS_OF_RETURNED)
        return page_response(request, person, "stopped", heading=heading, words=words)
    context |= {"outcome_html": text_html(_words(person, _outcome(person)), media)}
    if person.status == Participant.Status.COMPLETE:
        context |= {"bonus": _shown_bonus(person)}
        return page_response(request, person, "end", **(part_context(person, "end") | context))
    heading, words = map(gettext, WORDS[person.status])
    if page := _page_of_screen_out(person):
        heading = page.title
        context |= {"page_html": text_html(filled(person, page.text), media) if page.text.strip() else ""}
    context |= {"screened_out": person.status == Participant.Status.SCREENED_OUT}
    again = _may_begin_again(person)
    return page_response(request, person, "stopped", heading=heading, words=words, again=again, **context)


def _page_of_screen_out(person: Participant) -> OwnPagePlan | None:
    """Return the researchers' page at which the study ended for this participant, in the participant's
    language. Return None if it ended elsewhere."""
    if person.status != Participant.Status.SCREENED_OUT:
        return None
    return next((one for one in person.design.pages if screen_out_reason(one) == person.end_reason), None)


def _shown_bonus(person: Participant) -> Bonus | None:
    """Return the participant's bonus if the study shows it, or None."""
    rule = bonus_rule_of(person.version.blueprint)
    return bonus_of(person) if rule and rule.shown else None


def _may_begin_again(person: Participant) -> bool:
    """Return True if this person may begin the study again. The person must have refused consent and must
    not come from a recruitment platform, and the study must be open."""
    refused = person.status == Participant.Status.NO_CONSENT and not person.preview
    return refused and not RECRUITMENT_PLACES[person.source].label and not why_study_closed(person.study)


def outcome_context(person: Participant, label: str) -> dict[str, Any]:
    """Return the context for `code.html`: the completion code, and the address to which the participant
    goes. Call this before you erase the person."""
    return {
        "code": person.given_code,
        "own_code": person.given_code == person.completion_code,
        "complete": person.status == Participant.Status.COMPLETE,
        "leads_to": _address(person, _outcome(person), label),
    }


def _outcome(person: Participant) -> Outcome | None:
    return Outcome.objects.filter(study=person.study, kind=person.status).first()


def _words(person: Participant, outcome: Outcome | None) -> str:
    """Return the text that participants see for this outcome, from the version of the study under which they
    entered.

    Older versions without outcomes use the current text. The address in the text is always the current one,
    so that a wrong address can be corrected. The code is the participant's own.
    """
    design = person.design
    if design.format < OUTCOMES:
        return outcome.text if outcome else ""
    return next((one.text for one in design.outcomes if one.kind == person.status), "")


def _address(person: Participant, outcome: Outcome | None, label: str) -> str:
    """Return the address to which the button on the last page leads. Return an empty string if the page has
    no button.

    `label` is the participant's label. A code made for a single participant is not sent to a platform, which
    would not know it.
    """
    code, known = person.given_code, person.given_code not in {"", person.completion_code}
    place = RECRUITMENT_PLACES[person.study.recruitment if person.preview else person.source]
    pattern = outcome.url if outcome and outcome.url else place.complete if known else ""
    return pattern.replace("{code}", quote(code)).replace("{label}", quote(label))


def withdraw_page(request: HttpRequest, person: Participant) -> HttpResponse:
    """Show what a withdrawal erases and what it keeps. The participant confirms it on this page."""
    terms = withdrawal_terms(person, settings_on(person.study))
    return page_response(request, person, "withdraw", leaving=terms)


def withdrawal_terms(person: Participant, on: Collection[str] | None = None) -> dict[str, Any]:
    """Return what a withdrawal erases and keeps, for the page and for the question beside the game.

    `on` are the settings that store further personal data. The default are those of the participant's own
    version, which needs no query.
    """
    shared, design = plays_with_people(person), person.version.blueprint

    def is_erased(setting: str) -> bool:
        return not setting or bool(design.meant(setting) if on is None else setting in on)

    erased = [one for one in ERASED_DATA if is_erased(one.setting)]
    return {
        "going": [gettext((shared and one.shared) or one.what) for one in erased],
        "complete": person.status in PAID_STATUSES,
        "shares": shared,
        "not_again": person.status in NO_REENTRY_STATUSES and bool(person.label),
    }


def withdrawn_page(request: HttpRequest, person: Participant) -> HttpResponse:
    """Erase everything and show a receipt. A participant who had finished also sees the completion code
    again. The page says what to do at the recruitment platform. Raises Participant.DoesNotExist if the data
    were erased already."""
    outcome, leaving = outcome_context(person, person.label), RECRUITMENT_PLACES[person.source].leaving
    context = {
        **outcome,
        "study": person.study,
        "preview": person.preview,
        "receipt": participant_withdraw(participant_id=person.pk),
        "leaving": gettext(leaving) if leaving else "",
    }
    return render(request, "study/participation/withdrawn.html", context)


@never_cache
@require_GET
def stored_data_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show which kinds of data a study stores. Everybody can open the page. It shows no participant's
    data."""
    study = get_object_or_404(Study, slug=slug)
    activate_language(request, study)
    on = settings_on(study)
    context = {
        "study": study,
        "keeps_devices": "keeps_devices" in on,
        "lines": [
            line.translated() for line in STORED_DATA.values() if not line.setting or line.setting in on
        ],
        "beside": list(map(gettext, STORED_BESIDE.values())),
        "names": settings.KEEP_NAMES_DAYS,
        "everything": settings.KEEP_DAYS,
        "events": settings.KEEP_EVENTS_DAYS,
    }
    return render(request, "study/participation/stored.html", context)
