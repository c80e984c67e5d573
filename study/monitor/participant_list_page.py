"""Serve the staff page that lists a study's participants, and carry out one action on several of them.

An action on several people is confirmed on a page that lists them. Each person is changed in a transaction of
their own, so that one who withdraws meanwhile stops nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.words.english_text import counted_noun
from study.design.models import Study
from study.monitor import staff_actions
from study.monitor.break_reminders import has_breaks, people_on_breaks
from study.monitor.find_people import (
    CONCEALED_TROUBLES,
    KINDS,
    STATUSES,
    TROUBLES,
    PeopleFilter,
    find_erased,
    find_people,
)
from study.monitor.live_status import kind_of
from study.monitor.participant_pages import WRITTEN, ActionForm, longest_text
from study.participants.end_and_erase_participation import participant_withdraw, read_receipt
from study.participants.models import Participant
from study.participants.participant_counts import study_counts
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import FORM_METHODS, has_right, study_page
from study.researchers.reauthenticate import requires_password

PER_PAGE = 50
MOST_AT_ONCE = 500
"""The most people that one action changes."""
Act = Callable[..., bool]
SEVERAL: dict[str, tuple[str, Act]] = {
    "exclude": ("Exclude … from the analysis", staff_actions.participant_exclude),
    "include": ("Take back the exclusion of …", staff_actions.participant_include),
    "note": ("Write a note about …", staff_actions.note_write),
    "message": ("Send a message to …", staff_actions.message_send),
    "end_way": ("End the participation of …", staff_actions.participant_stop),
}
"""Actions that can be done to several people at once: label, and the service function. In the label, `…` is
in place of the people."""
ERASE = "erase"
ERASE_LABEL = "Erase everything of …"


@study_page("view")
def participants(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one page of the list of participants that match the filter. If the user entered a withdrawal
    receipt, show what the receipt contains. A personal link leads to the page of its participant."""
    conceals = not has_right(request.user, study, "results")
    chosen = PeopleFilter.read(request.GET, conceals=conceals)
    found = find_people(study, chosen)
    if "/p/" in chosen.name and (person := found.first()):
        return redirect("study:staff-participants-one", study.slug, person.code)
    receipt = request.GET.get("receipt", "").strip()
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    states = {row.person.pk: row.state_words for row in people_on_breaks(study, page)}
    context = {
        "study": study,
        "counts": study_counts(study),
        "people": page,
        "rows": [
            (person, kind_of(person), _done(person), states.get(person.pk, person.get_status_display()))
            for person in page
        ],
        "has_breaks": bool(states) or has_breaks(study),
        "kinds": KINDS,
        "statuses": STATUSES,
        "troubles": {
            key: words for key, words in TROUBLES.items() if not (conceals and key in CONCEALED_TROUBLES)
        },
        "conditions": [] if conceals else list(study.conditions.values_list("key", "name")),
        "chosen": chosen,
        "erased": find_erased(study, chosen.name),
        "receipt": receipt,
        "left": read_receipt(receipt) if receipt else None,
        "left_complete": study.left_complete.exclude(code=""),
        "conceals": conceals,
        "several": _several(request, study),
    }
    return render(request, "study/monitor/participants.html", context)


def _several(request: HttpRequest, study: Study) -> dict[str, str]:
    """Return the actions on several people that this user may do, with their labels."""
    may_edit = has_right(request.user, study, "edit")
    offered = {key: words for key, (words, _) in SEVERAL.items() if may_edit}
    offered |= {ERASE: ERASE_LABEL} if has_right(request.user, study, "own") else {}
    return {key: words.replace(" …", "") for key, words in offered.items()}


def _done(person: Participant) -> tuple[int, int]:
    """Return two numbers: the participant's answered rounds and planned rounds."""
    rounds = person.rounds.all()
    return sum(one.answered_at is not None for one in rounds), len(rounds)


def _chosen_people(request: HttpRequest, study: Study) -> tuple[list[Participant], int]:
    """Return the people that the form names, or all that match its filter, at most `MOST_AT_ONCE`, and how
    many others are left out."""
    conceals = not has_right(request.user, study, "results")
    if "everybody" in request.POST:
        people = find_people(study, PeopleFilter.read(request.POST, conceals=conceals))
    else:
        people = study.participants.filter(code__in=request.POST.getlist("who")).order_by("-number")
    return list(people[:MOST_AT_ONCE]), max(0, people.count() - MOST_AT_ONCE)


@study_page("edit", FORM_METHODS)
def act_on_several(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for a confirmation that lists the chosen people. After it, carry out the action on each of them."""
    if request.method != "POST":  # back from the page that asks for the password
        return redirect("study:staff-participants", study.slug)
    action, (people, left_out) = request.POST.get("action", ""), _chosen_people(request, study)
    if left_out:
        messages.warning(
            request,
            f"Only the newest {MOST_AT_ONCE}: {counted_noun(left_out, 'other')} of the list left out.",
        )
    if action not in (*SEVERAL, ERASE) or not people:
        messages.error(request, "Nothing was done: choose an action and at least one person.")
        return redirect("study:staff-participants", study.slug)
    if action == ERASE:
        return _confirm(request, study, people, ERASE, "")
    form = ActionForm(action, request.POST)
    if "confirmed" not in request.POST or not form.is_valid():
        problem = form.problem if "confirmed" in request.POST else ""
        return _confirm(request, study, people, action, problem)
    act = partial(SEVERAL[action][1], user=request.user, reason=form.cleaned_data["reason"])
    _tell(request, _each(people, act), len(people))
    return redirect("study:staff-participants", study.slug)


def _confirm(
    request: HttpRequest, study: Study, people: Sequence[Participant], action: str, problem: str
) -> HttpResponse:
    count = counted_noun(len(people), "participant")
    label = SEVERAL[action][0] if action in SEVERAL else ERASE_LABEL
    context = {
        "study": study,
        "counts": study_counts(study),
        "people": people,
        "action": action,
        "words": label.replace("…", count),
        "count": count,
        "written": action in WRITTEN,
        "erases": action == ERASE,
        "longest": longest_text(action),
        "problem": problem,
        "typed": request.POST.get("reason", ""),
    }
    status = 422 if problem else 200
    return render(request, "study/monitor/several.html", context, status=status)


@study_page("own", methods=("POST",))
@requires_password
def erase_several(request: HttpRequest, study: Study) -> HttpResponse:
    """Erase all data of the chosen people after a confirmation."""
    if CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
        return redirect("study:staff-participants", study.slug)
    people, _ = _chosen_people(request, study)

    def erase(*, participant_id: int) -> bool:
        return bool(participant_withdraw(participant_id=participant_id, by=request.user))

    _tell(request, _each(people, erase), len(people))
    return redirect("study:staff-participants", study.slug)


def _each(people: Sequence[Participant], act: Act) -> int:
    """Call `act` for each person, and return for how many it changed something."""
    done = 0
    for person in people:
        try:
            done += act(participant_id=person.pk)
        except Participant.DoesNotExist:  # withdrew meanwhile
            continue
    return done


def _tell(request: HttpRequest, done: int, asked: int) -> None:
    rest = asked - done
    words = f"Done for {counted_noun(done, 'participant')}."
    if rest:
        words += f" {counted_noun(rest, 'other')} had changed or left, or needed no change."
    (messages.success if done else messages.warning)(request, words)
