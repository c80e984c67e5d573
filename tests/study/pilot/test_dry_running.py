"""A dry run from the console: who may ask for what, one at a time, what its row tells, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.infra import db_retry
from study import tasks
from study.design.models import Study, StudyPart
from study.design.study_errors import DesignError, StudyClosedError
from study.design.study_versions import current_version
from study.editor.design_services import study_copy, study_delete
from study.participation.enter_study import is_study_open
from study.participation.page_progress import finish_page
from study.pilot import dry_run_execution, dry_run_jobs
from study.pilot.bots.http_browser import PatienceLimit, WalkedPage, WalkError
from study.pilot.bots.many_walkthroughs import CrowdOrder, CrowdReport
from study.pilot.bots.simulated_person import Person
from study.pilot.bots.study_walkthrough import TAKES_NOBODY, Arrival, Walk
from study.pilot.bots.walk_plans import OutcomeShares, PlannedOutcome
from study.pilot.dry_run_execution import (
    DryRunRequestError,
    UnreachableError,
    check_known,
    completed_crowd_settings,
)
from study.pilot.dry_run_jobs import (
    ANOTHER,
    AWAY,
    SILENT,
    claim_dry_run,
    dry_run_create,
    dry_run_end,
    dry_run_stop,
    report_dry_run_progress,
)
from study.pilot.dry_run_page import CLOSED, DryRunForm, free_seed
from study.pilot.models import DryRun
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

SENT = {
    "participants": "5",
    "drop_outs": "20",
    "withdrawals": "20",
    "refusals": "0",
    "fail_checks": "0",
    "at_once": "2",
    "seed": "7",
}
State = DryRun.State


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def user(study: Study, client: Client) -> User:
    """A collaborator, logged in."""
    found = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=found, role="collaborator")
    client.force_login(found)
    return found


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What workers were asked to walk."""
    found: list[int] = []

    def send(task: str, pk: int, **_: Any) -> bool:
        found.append(pk)
        return True

    monkeypatch.setattr("study.task_queue.send_task", send)
    return found


def page(study: Study) -> str:
    return reverse("study:staff-design-dry-runs", args=[study.slug])


def stop_button(run: DryRun) -> str:
    return reverse("study:staff-design-dry-run-stopped", args=[run.study.slug, run.pk])


def ask(study: Study, user: User, **more: Any) -> DryRun:
    wish = {"participants": 5, "seed": 7, "at_once": 2, "shares": OutcomeShares(drop_outs=20), **more}
    return dry_run_create(study_id=study.pk, user=user, **wish)


def hushed(run: DryRun) -> DryRun:
    """Nothing was heard of it for too long."""
    DryRun.objects.filter(pk=run.pk).update(news_at=timezone.now() - timedelta(minutes=11))
    run.refresh_from_db()
    return run


def shown(answer: HttpResponse | Any) -> str:
    return " ".join(answer.content.decode().split())


# Asking


def test_a_run_is_stored_and_asked_for_in_the_queue_of_experiments(
    study: Study, user: User, client: Client, queued: list[int], settings: Any
) -> None:
    answer = client.post(page(study), SENT, follow=True)
    run = study.dry_runs.get()
    assert queued == [run.pk]
    assert (run.user, run.user_name, run.state) == (user, "researcher", State.WAITING)
    assert (run.participants, run.at_once, run.seed) == (5, 2, 7)
    assert dry_run_jobs.request_of_run(run).shares == OutcomeShares(drop_outs=20, withdrawals=20)
    assert "A dry run waits for a worker." in shown(answer)
    assert "20 % drop-outs, 20 % withdrawals" in shown(answer)
    assert settings.CELERY_TASK_ROUTES[tasks.dry_run.name] == {"queue": settings.EXPERIMENTS_QUEUE}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("participants", "0", "greater than or equal to 1"),
        ("participants", "201", "less than or equal to 200"),
        ("participants", "many", "whole number"),
        ("at_once", "9", "less than or equal to 8"),
        ("seed", "-1", "greater than or equal to 0"),
        ("drop_outs", "nan", "Enter a number."),
        ("drop_outs", "81", "From 0 to 100, together at most 100."),
        ("withdrawals", "101", "less than or equal to 100"),
        ("refusals", "", "required"),
        ("fail_checks", "10", "The study has no question with a right answer."),
        ("seed", "1", "The study has SYN-1-3 already; name another seed."),
    ],
)
def test_an_invalid_setting_has_its_message_at_its_field_and_no_input_is_lost(
    study: Study, user: User, client: Client, queued: list[int], field: str, value: str, words: str
) -> None:
    Study.objects.filter(pk=study.pk).update(recruitment="label")
    person = enter(study, synthetic=True)
    study.participants.filter(pk=person.pk).update(label="SYN-1-3")
    answer = client.post(page(study), {**SENT, field: value})
    assert answer.status_code == 422
    form = answer.context["form"]
    assert words in str(form.errors[field])
    assert form.data.dict().items() >= {**SENT, field: value}.items()
    assert not queued
    assert not DryRun.objects.exists()


def test_refusals_need_a_consent_to_refuse(study: Study, user: User, client: Client) -> None:
    StudyPart.objects.filter(kind="consent").update(enabled=False)
    answer = client.post(page(study), {**SENT, "refusals": "10"})
    assert answer.context["form"].errors == {"refusals": ["The study asks for no consent."]}


def test_a_study_that_takes_nobody_says_what_to_do_first(
    study: Study, user: User, client: Client, queued: list[int]
) -> None:
    complete(study, synthetic=True)
    complete(study, "two")
    changes: dict[str, dict[str, Any]] = {
        "full": {"max_participants": 1},
    }
    for why, change in changes.items():
        Study.objects.filter(pk=study.pk).update(**change)
        answer = client.get(page(study))
        assert CLOSED[why] in shown(answer)
        assert "Start the dry run" not in shown(answer)
        answer = client.post(page(study), SENT)
        assert answer.context["form"].non_field_errors() == [CLOSED[why]]
        assert "Start the dry run" in shown(answer), "nothing that was typed is lost"
    study.refresh_from_db()
    assert not is_study_open(study, synthetic=True)
    assert not queued


def test_a_closed_study_that_is_ready_takes_programs_frozen_or_not_and_after_its_closing_date(
    study: Study, user: User, client: Client, queued: list[int]
) -> None:
    complete(study, "before")
    Study.objects.filter(pk=study.pk).update(status="closed", closes_at=timezone.now())
    current_version(study_id=study.pk)
    study.versions.update(frozen_at=timezone.now())
    study.refresh_from_db()
    assert client.post(page(study), SENT).status_code == 302
    assert len(queued) == 1
    assert is_study_open(study, synthetic=True)
    assert not is_study_open(study)
    assert enter(study, synthetic=True).synthetic
    with pytest.raises(StudyClosedError):
        enter(study, "two")
    study.dry_runs.all().delete()

    StudyPart.objects.filter(study=study, kind="consent").update(text="")
    answer = client.get(page(study))
    assert CLOSED["closed"] in shown(answer)
    assert "Consent:" in shown(answer).partition(CLOSED["closed"])[2][:200]
    assert "Start the dry run" not in shown(answer)


# Effects on ratings


def test_effects_by_condition_are_stored_and_reach_the_programs(
    study: Study, user: User, client: Client, queued: list[int]
) -> None:
    item, condition = study.items.filter(kind="likert")[0].key, study.conditions.all()[0].key
    assert f"Conditions: {condition}" in shown(client.get(page(study)))
    sent = SENT | {"known": f"{item}:{condition}=0.2\r\n\r\n"}
    answer = client.post(page(study), sent, follow=True)
    run = study.dry_runs.get()
    assert dry_run_jobs.request_of_run(run).known == {item: {condition: 0.2}}
    assert f"Effects: {item}: {condition} +0.2." in shown(answer)


@pytest.mark.parametrize("line", ["trust=0.2", "trust:here=0.9", "trust:here=much", "trust:nowhere=0.2"])
def test_an_effect_that_cannot_be_is_named_at_its_field(
    study: Study, user: User, client: Client, queued: list[int], line: str
) -> None:
    answer = client.post(page(study), SENT | {"known": line})
    assert answer.status_code == 422
    [words] = answer.context["form"].errors["known"]
    assert line.partition("=")[0].partition(":")[0] in words
    assert line in shown(answer)
    assert not queued


def test_programs_that_find_no_place_say_so_in_one_sentence() -> None:
    class Closed:
        async def send(self, page: WalkedPage, answers: object) -> WalkedPage:
            return WalkedPage("http://server/study/", 403, "closed")

    walk = Walk(Person(1, 1), cast("Any", Closed()), PatienceLimit(1))
    with pytest.raises(WalkError) as caught:
        asyncio.run(walk.send(WalkedPage("http://server/study/", 200, "welcome"), {}))
    assert str(caught.value) == TAKES_NOBODY


def test_the_seed_is_the_first_that_nobody_has_used(study: Study, user: User) -> None:
    assert free_seed(study) == 1
    study.participants.filter(pk=complete(study, synthetic=True).pk).update(label="SYN-1-12")
    ask(study, user, seed=2)
    assert free_seed(study) == 3
    assert DryRunForm(study=study)["seed"].value() == 3


def test_one_at_a_time_in_one_study(study: Study, user: User, client: Client, queued: list[int]) -> None:
    run = ask(study, user)
    answer = client.post(page(study), SENT)
    assert answer.status_code == 422
    assert answer.context["form"].non_field_errors() == [ANOTHER]
    ask(make_study("other"), user)
    claim_dry_run(run_id=run.pk)
    with pytest.raises(DesignError, match="already running"):
        ask(study, user)
    dry_run_end(run_id=run.pk, state=State.FINISHED, line="", done=5)
    assert client.post(page(study), SENT).status_code == 302
    assert study.dry_runs.count() == 2
    assert len(queued) == 1


def test_without_redis_nothing_is_started_and_the_page_says_so(
    study: Study, user: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.task_queue.send_task", lambda *_, **__: False)
    answer = client.post(page(study), SENT)
    assert answer.status_code == 422
    assert answer.context["form"].non_field_errors() == [AWAY]
    assert not DryRun.objects.exists()


def test_a_viewer_sees_and_a_collaborator_starts_and_stops(
    study: Study, user: User, client: Client, queued: list[int]
) -> None:
    run = ask(study, user)
    study.memberships.update(role="viewer")
    answer = client.get(page(study))
    assert "waits for a worker" in shown(answer)
    assert "Start the dry run" not in shown(answer)
    assert "Stop<" not in shown(answer)
    assert client.post(page(study), SENT).status_code == 403
    assert client.post(stop_button(run)).status_code == 403
    study.memberships.all().delete()
    assert client.get(page(study)).status_code == 403
    study.memberships.create(user=user, role="collaborator")
    assert client.get(stop_button(run)).status_code == 405
    assert client.post(stop_button(run)).status_code == 302
    elsewhere = reverse("study:staff-design-dry-run-stopped", args=[make_study("other").slug, run.pk])
    assert client.post(elsewhere).status_code in {403, 404}
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(user)
    assert guarded.post(page(study), SENT).status_code == 403


# Walking


def report(
    run: DryRun, *outcomes: PlannedOutcome, failed: dict[int, str] | None = None, unlike: Any = ()
) -> CrowdReport:
    """As if the first ones had done this."""
    arrived = [
        Arrival(number, "CODE", "", (), 0, outcome) for number, outcome in enumerate(outcomes, start=1)
    ]
    order = CrowdOrder(run.participants, run.seed, run.at_once)
    return CrowdReport(order, arrived, failed or {}, list(unlike))


def walks(monkeypatch: pytest.MonkeyPatch, act: Callable[..., CrowdReport]) -> list[str]:
    """The walk itself is replaced; at what addresses it was asked for."""
    asked: list[str] = []

    async def walked(study: Study, order: CrowdOrder, say: Any, stopped: Any) -> CrowdReport:
        asked.append(order.link)
        return act(say)

    async def heard(**_: Any) -> bool:
        return True

    monkeypatch.setattr(dry_run_jobs, "walked", walked)
    monkeypatch.setattr(dry_run_jobs, "database_sync_to_async", lambda _: heard)
    return asked


def test_a_task_that_comes_twice_walks_once(
    study: Study, user: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask(study, user)

    def act(say: Any) -> CrowdReport:
        for number in range(5):
            say(f"participant {number} of 5 finished, code SECRET")
        return report(run, *[PlannedOutcome.FINISH] * 3, PlannedOutcome.DROP_OUT, PlannedOutcome.WITHDRAW)

    asked = walks(monkeypatch, act)
    tasks.dry_run(run.pk)
    tasks.dry_run(run.pk)
    tasks.dry_run(run.pk + 1)

    assert len(asked) == 1
    assert asked[0].startswith(f"{settings.PUBLIC_URL}/s/{study.slug}/?invitation=")
    run.refresh_from_db()
    assert (run.state, run.done) == (State.FINISHED, 5)
    assert run.line == "3 finished, 1 dropped out, 1 withdrew, 0 refused, 0 failed the check"
    assert run.ended_at
    assert not run.is_on

    another = ask(study, user)
    claim_dry_run(run_id=another.pk)
    tasks.dry_run(another.pk)
    assert len(asked) == 1, "it is with another worker"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UnreachableError("the study cannot be reached: away"), "Nobody was sent: the study cannot be"),
        (DryRunRequestError("the study is closed"), "Nobody was sent: the study is closed"),
        (RuntimeError("secret"), "An error ended it (RuntimeError)"),
    ],
)
def test_an_error_is_described_in_the_row(
    study: Study, user: User, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def act(say: Any) -> CrowdReport:
        raise error

    walks(monkeypatch, act)
    run = ask(study, user)
    tasks.dry_run(run.pk)
    run.refresh_from_db()
    assert run.state == State.FAILED
    assert words in run.line
    assert "secret" not in run.line


def test_the_row_says_why_somebody_failed_without_saying_who(study: Study, user: User) -> None:
    run, watch = ask(study, user), dry_run_jobs.DryRunProgress(1)
    why = "nothing moved for 60 s: http://h:1/p/KEYKEY/?a=b: the websocket is silent, step 3"
    state, line = dry_run_jobs.end_state(
        report(run, PlannedOutcome.FINISH, failed={2: why, 3: "more"}), watch
    )
    assert state == State.FAILED
    assert "2 did not do what was planned" in line
    assert "step 3" in line
    assert "KEYKEY" not in line
    unlike = ["number 2 withdrew: the participant is still there"]
    state, line = dry_run_jobs.end_state(report(run, *[PlannedOutcome.FINISH] * 5, unlike=unlike), watch)
    assert state == State.FAILED
    assert line.endswith("1 not stored as planned: one that withdrew: the participant is still there")


def test_participants_are_not_sent_once_the_run_is_stopped_or_late(
    study: Study, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, watch = ask(study, user), dry_run_jobs.DryRunProgress(1)
    everybody, some = report(run, *[PlannedOutcome.FINISH] * 5), report(run, PlannedOutcome.FINISH)
    assert not watch.stopped()
    monkeypatch.setattr(dry_run_jobs, "LONGEST", -1.0)
    assert watch.stopped()
    assert dry_run_jobs.end_state(everybody, watch)[0] == State.FINISHED
    assert "It took too long" in dry_run_jobs.end_state(some, watch)[1]
    watch.stop = True
    assert dry_run_jobs.end_state(some, watch)[0] == State.STOPPED


async def test_progress_is_stored_while_it_runs_also_after_the_database_was_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: Iterator[Any] = iter([OperationalError("away"), True, False])
    told: list[int] = []

    async def heard(run_id: int, done: int) -> bool:
        told.append(done)
        answer = next(answers, False)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    monkeypatch.setattr(dry_run_jobs, "database_sync_to_async", lambda _: heard)
    monkeypatch.setattr(dry_run_jobs, "NEWS_SECONDS", 0)
    watch = dry_run_jobs.DryRunProgress(1)
    walked: Any = object()

    async def walk() -> Any:
        while not watch.stopped():
            watch.say("one more")
            await asyncio.sleep(0)
        return walked

    assert await watch.over(walk()) is walked
    assert len(told) >= 3
    assert told[-1] > 0


def test_the_end_is_stored_once_the_database_is_back(
    study: Study, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, tries = ask(study, user), []

    def end(**more: Any) -> None:
        tries.append(more)
        if len(tries) == 1:
            raise OperationalError("away")
        dry_run_end(**more)

    walks(monkeypatch, lambda say: report(run, *[PlannedOutcome.FINISH] * 5))
    monkeypatch.setattr(db_retry, "RETRY_WAITS", (0.0,))
    monkeypatch.setattr(dry_run_jobs, "dry_run_end", end)
    tasks.dry_run(run.pk)
    run.refresh_from_db()
    assert (run.state, len(tries)) == (State.FINISHED, 2)


# Stopping, and falling silent


def test_a_run_that_waits_is_stopped_at_once_and_never_walked(
    study: Study, user: User, client: Client
) -> None:
    run = ask(study, user)
    answer = client.post(stop_button(run), follow=True)
    assert "The last dry run was stopped: 0 of 5 done." in shown(answer)
    assert "Nobody was sent. Stopped by researcher." in shown(answer).replace('<span class="quiet">', "")
    assert claim_dry_run(run_id=run.pk) is None
    answer = client.post(stop_button(run), follow=True)
    assert "was already over" in shown(answer)


def test_a_run_that_is_on_sends_nobody_more(study: Study, user: User, client: Client) -> None:
    run = ask(study, user)
    claim_dry_run(run_id=run.pk)
    assert report_dry_run_progress(run_id=run.pk, done=1)
    assert "A dry run is running: 1 of 5 done." in shown(client.get(page(study)))
    client.post(stop_button(run))
    assert not report_dry_run_progress(run_id=run.pk, done=2)
    said = shown(client.get(page(study)))
    assert "A dry run is being stopped: 2 of 5 done." in said
    assert "Stop<" not in said
    dry_run_end(run_id=run.pk, state=State.STOPPED, line="2 finished", done=3)
    assert not report_dry_run_progress(run_id=run.pk, done=9)
    run.refresh_from_db()
    assert (run.done, run.stopped_by, run.state) == (3, "researcher", State.STOPPED)


@pytest.mark.parametrize("taken", [False, True])
def test_a_silent_run_is_shown_as_silent_and_blocks_no_other(
    study: Study, user: User, client: Client, queued: list[int], taken: bool
) -> None:
    run = ask(study, user)
    if taken:
        claim_dry_run(run_id=run.pk)
    hushed(run)
    said = shown(client.get(page(study)))
    assert "The last dry run sent no news for 10 minutes" in said
    assert "hx-get" not in said
    assert client.post(page(study), SENT).status_code == 302
    assert claim_dry_run(run_id=run.pk) is None
    assert not report_dry_run_progress(run_id=run.pk, done=1), "should it come back, it sends nobody more"
    run.refresh_from_db()
    assert (run.state, run.line, run.done) == (State.FAILED, SILENT, 0)


def test_a_silent_run_is_stopped_at_once(study: Study, user: User) -> None:
    run = ask(study, user)
    claim_dry_run(run_id=run.pk)
    dry_run_stop(run=hushed(run), user=user)
    run.refresh_from_db()
    assert (run.state, run.line) == (State.STOPPED, SILENT)


# The page


def test_the_page_polls_only_while_a_run_is_active_and_gets_only_changes(
    study: Study, user: User, client: Client
) -> None:
    run = ask(study, user)
    first = client.get(page(study))
    again = f"{page(study)}?seen={first.context['seen']}"
    assert f'hx-get="{again}"' in shown(first)
    assert client.get(again).status_code == 204
    claim_dry_run(run_id=run.pk)
    news = client.get(again)
    assert "<h1" not in shown(news)
    assert 'hx-swap-oob="true">A dry run is running: 0 of 5 done.' in shown(news)
    dry_run_end(run_id=run.pk, state=State.FINISHED, line="5 finished", done=5)
    over = shown(client.get(f"{page(study)}?seen={news.context['seen']}"))
    assert "The last dry run has finished: 5 of 5 done." in over
    assert "hx-get" not in over


def test_the_newest_ten_are_shown(study: Study, user: User, client: Client) -> None:
    assert "No dry run was started on this page yet." in shown(client.get(page(study)))
    for seed in range(1, 13):
        dry_run_stop(run=ask(study, user, seed=seed), user=user)
    assert [run.seed for run in client.get(page(study)).context["runs"]] == [*range(12, 2, -1)]


def test_the_design_leads_to_it(study: Study, user: User, client: Client) -> None:
    design = reverse("study:staff-design", args=[study.slug])
    assert f'href="{page(study)}"' in shown(client.get(design))
    for name in ("staff-live", "staff-participants"):
        assert f'href="{page(study)}"' in shown(client.get(reverse(f"study:{name}", args=[study.slug])))


def test_runs_are_neither_copied_nor_in_the_way_of_deleting(study: Study, user: User) -> None:
    run = ask(study, user)
    assert not study_copy(study, owner=user).dry_runs.exists()
    study_delete(study_id=study.pk)
    assert not DryRun.objects.exists()
    tasks.dry_run(run.pk)
    assert not report_dry_run_progress(run_id=run.pk, done=1)


def test_known_effects_are_stored_when_the_condition_is_looked_up(study: Study) -> None:
    person, known = enter(study, "a program", synthetic=True), {"i0": {"c0": 0.2}}
    finish_page(participant_id=person.pk, page="guide")
    first = person.rounds.select_related("condition", "episode").order_by("position")[0]
    assert first.episode
    socket = f"ws://host/ws/seat/{first.episode.seats.get().key}/"
    assert dry_run_execution.condition_at(known, socket) == first.condition.key
    person.refresh_from_db()
    assert person.known_effects == known
    study.items.filter(key="i1").update(needs_teammates=True)
    with pytest.raises(DryRunRequestError, match="'i1' is not asked after 'c0'"):
        check_known(study, {"i1": {"c0": 0.2}})
    wish = CrowdOrder(1, 5, 1, known={"i0": {"nowhere": 0.2}})
    with pytest.raises(DryRunRequestError, match="nowhere"):
        completed_crowd_settings(study, wish, url="http://localhost")
