"""Execute a dry run: send synthetic participants (programs) through a study, and check the stored data.

Each program follows a plan, and the stored data must agree with the plan. The command `dry_run` and the
workers use this module. Errors::

    Exception
    ├── DryRunRequestError   the request is invalid; `fields` names the invalid settings
    └── UnreachableError     no server at the address, or the study is not open there
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from functools import partial
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.urls import resolve

from kitchen.play.models import Seat
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.design.page_and_item_order import (
    ROUND_PAGES,
    is_shown,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.design.part_rules import names_with_rules
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant, Round
from study.participants.simulated_effects import KnownEffects, unknown_effect_key
from study.participation.enter_study import is_study_open, synthetic_invitation
from study.pilot.bots.http_browser import Browser, PatienceError, PatienceLimit, WalkError, path_of
from study.pilot.bots.many_walkthroughs import Crowd, CrowdOrder, CrowdReport
from study.pilot.bots.study_walkthrough import TAKES_NOBODY, Arrival
from study.pilot.bots.walk_plans import OutcomeShares, PlannedOutcome, StopPage, StudyScript, label_of

Status = Participant.Status
STORED = {
    PlannedOutcome.FINISH: {Status.COMPLETE, Status.UNMATCHED, Status.NO_PLACE},
    PlannedOutcome.DROP_OUT: {Status.ACTIVE, Status.TIMED_OUT},
    PlannedOutcome.REFUSE: {Status.NO_CONSENT},
    PlannedOutcome.SCREEN_OUT: {Status.SCREENED_OUT},
}
"""Accepted stored statuses by outcome. Participants who withdrew are not stored."""


def study_script(design: Blueprint, recruitment: str) -> StudyScript:
    """Return the facts about a study that synthetic participants need and that its pages do not show.

    `recruitment` is the key of the recruitment platform.
    """
    place = RECRUITMENT_PLACES[recruitment]
    return StudyScript(
        stops=possible_stops(design),
        for_some=names_with_rules(design),
        items={item.key: item for item in design.items},
        link_names=tuple(name for name in (place.label, *place.more) if name),
        has_check=is_shown(design, "check"),
        check_ends=design.part("check").settings["on_failure"] == "end",
    )


def possible_stops(design: Blueprint) -> tuple[StopPage, ...]:
    """Return every page between the link and the last page, in order. A participant may leave on each of
    these pages. The researchers' pages for some people only are left out, because nobody knows who sees
    them."""

    def stops(pages: Iterable[str]) -> list[StopPage]:
        return [StopPage(page) for page in pages if is_shown(design, page) and page not in for_some]

    for_some = {one.page for one in design.pages if one.ends or one.show_if.rules}
    rounds = list[StopPage]()
    for number in range(1, design.rounds + 1):
        rounds += stops(pages_before_round(design, number))
        rounds += [StopPage(page, number) for page in ROUND_PAGES]
    return (*stops(pages_before_rounds(design)), *rounds, *stops(pages_after_rounds(design)))


def participant_of(study: Study, arrival: Arrival) -> Participant | None:
    """Return the stored participant whose personal link this walkthrough received. Return None if there is
    none."""
    key = resolve(path_of(arrival.home)).kwargs["key"]
    return study.participants.filter(key=key).first()


def condition_at(effects: KnownEffects, socket: str) -> str:
    """Return the key of the condition that is played at this websocket address. The known effects on ratings
    are stored with the synthetic participant, too."""
    found = Round.objects.select_related("condition").get(episode__seats__key=seat_key(socket))
    Participant.objects.filter(pk=found.participant_id, synthetic=True).update(known_effects=dict(effects))
    return str(found.condition.key)


async def time_out_dropout(study: Study, arrival: Arrival) -> None:
    """End the participation of a drop-out as timed out, if the study has a time limit. So the dry run need
    not wait, and another participant can get the sequence of conditions."""
    if arrival.outcome != PlannedOutcome.DROP_OUT or study.idle_minutes is None:
        return
    if person := await database_sync_to_async(participant_of)(study, arrival):
        await database_sync_to_async(participant_end)(
            participant_id=person.pk, status=Status.TIMED_OUT, reason="dropped out of a dry run"
        )


def deviations_from_plan(study: Study, report: CrowdReport) -> list[str]:
    """Compare the stored participants with the plan. Return a description of each deviation. The result is
    empty if there is none."""
    problems = ((one, _problem(study, one, report.order.script)) for one in report.arrived)
    return [f"number {one.number} {one.outcome}: {problem}" for one, problem in problems if problem]


def _problem(study: Study, arrival: Arrival, script: StudyScript) -> str:
    person = participant_of(study, arrival)
    if arrival.outcome == PlannedOutcome.WITHDRAW:
        return _remains(person, arrival)
    if person is None:
        return "not stored at all"
    wanted = STORED.get(arrival.outcome) or {Status.FAILED_CHECK if script.check_ends else Status.COMPLETE}
    if person.status not in wanted:
        return f"stored as {person.status}"
    return "" if person.synthetic else "not marked as synthetic"


def _remains(person: Participant | None, arrival: Arrival) -> str:
    """Return a text about data that are still stored although the participant withdrew. Return an empty
    string if there are none."""
    seats = Seat.objects.filter(key__in=[seat_key(socket) for socket in arrival.sockets])
    return "the participant is still there" if person else "episodes are still there" * seats.exists()


def seat_key(socket: str) -> str:
    """Return the secret key of the seat, the last part of a websocket's address."""
    return socket.rstrip("/").rpartition("/")[2]


class DryRunRequestError(ValueError):
    """Raised if the settings do not allow a dry run. `words` is the reason, `fields` names the invalid
    settings, if any."""

    def __init__(self, words: str, *fields: str) -> None:
        super().__init__(words)
        self.words = words
        self.fields = fields


class UnreachableError(Exception):
    """Raised if no server answers at the address, or if the study is not open there."""


def completed_crowd_settings(study: Study, order: CrowdOrder, *, url: str) -> CrowdOrder:
    """Check the settings of a dry run. Return the settings with two additions: the study's link, and the
    facts about the study's pages.

    `url` is the address of the server. Raises DryRunRequestError if the dry run is not possible.
    """
    check_numbers(order)
    if not is_http(url):
        raise DryRunRequestError(f"{url!r} is not an address with http:// or https://", "url")
    if not is_study_open(study, synthetic=True):
        raise DryRunRequestError(
            f"the study {study.slug!r} is closed, is full or has no conditions that can be played"
        )
    link = f"{url.rstrip('/')}{study.get_absolute_url()}?invitation={synthetic_invitation(study)}"
    order = replace(order, link=link, script=study_script(blueprint_of(study), study.recruitment))
    check_labels(study, order)
    check_shares(order.shares, order.script)
    check_known(study, order.known)
    return order


def check_numbers(order: CrowdOrder) -> None:
    """Raise DryRunRequestError if a number of participants or a time in seconds is out of range."""
    for name, value in (("participants", order.participants), ("at_once", order.at_once)):
        if value < 1:
            raise DryRunRequestError(f"{value} is below 1", name)
    if not 0 < order.patience <= 3600 or not 0 <= order.think <= 3600:
        raise DryRunRequestError("seconds, at most 3600", "patience", "think")


def check_labels(study: Study, order: CrowdOrder) -> None:
    """Raise DryRunRequestError if the study already has participants with the labels that `order` would use.
    The dry run would continue these participations instead of entering new participants."""
    labels = [label_of(order.seed, number) for number in range(1, order.participants + 1)]
    if order.script.link_names and (known := study.participants.filter(label__in=labels).first()):
        raise DryRunRequestError(f"the study has {known.label} already; name another seed", "seed")


def check_shares(shares: OutcomeShares, script: StudyScript) -> None:
    """Raise DryRunRequestError if the shares are not percentages that sum to at most 100.

    Also raise it for shares that the study cannot produce. Refusals of consent need a consent page, and
    failed checks need a question with a right answer.
    """
    by_name = asdict(shares)
    if not all(0 <= share <= 100 for share in by_name.values()) or not sum(by_name.values()) <= 100:
        raise DryRunRequestError("from 0 to 100, together at most 100", *by_name)
    if shares.refusals and StopPage("consent") not in script.stops:
        raise DryRunRequestError("the study asks for no consent", "refusals")
    if shares.fail_checks and not any(item.correct is not None for item in script.items.values()):
        raise DryRunRequestError("the study has no question with a right answer", "fail_checks")


def check_known(study: Study, effects: KnownEffects) -> None:
    """Raise DryRunRequestError if an effect names a rating or a condition that the study lacks. The rating
    must also be asked after the condition."""
    design = blueprint_of(study)
    ratings = [item.key for item in design.items_at("survey") if item.kind == "likert"]
    if key := unknown_effect_key(effects, ratings, [one.key for one in design.conditions]):
        raise DryRunRequestError(
            f"{key!r} is no rating after an episode and no condition of {study.slug}", "known"
        )
    for condition in dict.fromkeys(key for by in effects.values() for key in by):
        asked = {item.key for item in design.items_after(condition)}
        if key := next((key for key, by in effects.items() if condition in by and key not in asked), ""):
            raise DryRunRequestError(f"{key!r} is not asked after {condition!r}", "known")


def is_http(url: str) -> bool:
    """Return whether this is an HTTP or HTTPS address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def walked(
    study: Study,
    order: CrowdOrder,
    say: Callable[[str], object],
    stopped: Callable[[], bool] | None = None,
) -> CrowdReport:
    """Run the walkthroughs of all synthetic participants, compare the stored data with the plan, and return
    the report.

    `say` gets a line about each result. Once `stopped` returns True, no other walkthrough is started.
    Raises UnreachableError if the study cannot be entered at all.
    """
    async with Browser(PatienceLimit(0)) as browser:
        try:
            page = await browser.open(order.link)
        except WalkError as error:
            why = error.why if isinstance(error, PatienceError) else error
            raise UnreachableError(f"the study cannot be reached: {why}") from error
    if page.kind == "closed":
        raise UnreachableError(TAKES_NOBODY)
    if page.kind != "welcome":
        raise UnreachableError(f"the study cannot be entered there: answer {page.status}")
    where = database_sync_to_async(partial(condition_at, order.known))
    on_arrival = partial(time_out_dropout, study)
    report = await Crowd(order, say, on_arrival=on_arrival, stopped=stopped, where=where).walk()
    report.unlike = await database_sync_to_async(deviations_from_plan)(study, report)
    return report
