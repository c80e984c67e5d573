"""Raters mark episodes without seeing each other, release, and their agreement and marks are shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Count
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.play.models import Episode
from study.analysis.analysis_sample import Sample, exclusion_reasons
from study.analysis.annotation_agreement import annotation_agreement
from study.design.models import Study
from study.exports.export_table import ExportSelection
from study.exports.tables.annotations_table import annotation_rows
from study.monitor import annotation_services as services
from study.participants.annotations import Annotation, AnnotationCode, EpisodeRating, is_revealed
from study.participants.end_and_erase_participation import (
    erase_names,
    participant_withdraw,
    participants_with_names,
)
from study.participants.models import Participant, Round, StaffAction
from study.participation.page_progress import lock_participant
from tests.study.factories import complete, make_study
from tests.study.participation.test_views import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
PLAN = {"share": 100, "overlap": 100, "unit": "step", "with_programs": True}
CODE = {"name": "helps", "key": "h", "colour": "1", "description": "One helps the other."}


@pytest.fixture
def study() -> Study:
    return make_study(conditions=1)


@pytest.fixture
def raters(study: Study) -> list[User]:
    users = [User.objects.create_user(name, is_staff=True) for name in ("ada", "bob")]
    for user in users:
        study.memberships.create(user=user, role="collaborator")
    return users


@pytest.fixture
def code(study: Study) -> AnnotationCode:
    services.code_save(study=study, code_id=None, values=CODE)
    return AnnotationCode.objects.get()


def dealt(study: Study, users: list[User], **plan: Any) -> int:
    return services.raters_assign(study=study, users=users, plan={**PLAN, **plan})


def marked(study: Study, user: User, code: AnnotationCode, first: int, last: int = 0) -> Annotation:
    where: dict[str, Any] = {"study": study, "user": user, "episode": Episode.objects.first()}
    return services.mark_make(**where, code_id=code.pk, first=first, last=last or first)


def test_marks_are_shown_exported_and_compared_only_when_every_rater_has_released(
    study: Study, raters: list[User], code: AnnotationCode, client: Client
) -> None:
    complete(study)
    episode = Episode.objects.get()
    address = reverse("study:staff-replay", args=[study.slug, episode.key])
    assert dealt(study, raters) == 2
    for user, last in zip(raters, (2, 3), strict=True):
        where: dict[str, Any] = {"study": study, "user": user, "episode": episode}
        mark = marked(study, user, code, last, 1)  # the other way round
        services.mark_note(**where, mark_id=mark.pk, note=f"by {user}")
        services.rating_done(**where, done=True)
    client.force_login(raters[0])
    overview = reverse("study:staff-participants-annotation", args=[study.slug])
    services.marks_release(study=study, user=raters[0])
    with pytest.raises(services.AnnotationError):
        marked(study, raters[0], code, 3)
    page = text_of(client.get(address))
    assert "by ada" in page and "by bob" not in page and "by bob" not in text_of(client.get(overview))
    assert not list(annotation_rows(study, ExportSelection()))
    client.post(overview, {"release_all": "yes", "sure": "on"})  # a collaborator does not own the study
    assert not is_revealed(study)
    services.marks_release(study=study)
    assert "by bob" in text_of(client.get(address))
    (found,) = annotation_agreement(study)
    assert (found.units, found.kappa) == (3, 0.0)
    assert found.percent == pytest.approx(2 / 3)
    assert "Same value" in text_of(client.get(overview))
    (group,) = annotation_rows(study, ExportSelection())
    assert [row[:5] for row in group.rows] == [(1, True, "helps", 1, 2), (2, True, "helps", 1, 3)]


def test_a_rater_marks_undoes_and_notes_on_the_replay_with_and_without_scripts(
    study: Study, raters: list[User], code: AnnotationCode, client: Client
) -> None:
    complete(study)
    dealt(study, raters[:1])
    episode = Episode.objects.get()
    there = reverse("study:staff-replay-marks", args=[study.slug, episode.key])
    client.force_login(raters[0])
    sent = {"code": code.pk, "first": 2, "last": 3, "step": 1}
    assert client.post(there, sent)["Location"].endswith("?step=1#annotation")
    part = text_of(client.post(there, sent, headers={"HX-Request": "true"}))
    assert 'data-said="Marked: helps, step 2 to 3."' in part and "<html" not in part
    assert Annotation.objects.count() == 1  # the same mark
    for wrong in ({"first": 4, "last": 4}, {"first": "x"}, {"code": 0}):
        refused = text_of(client.post(there, {**sent, **wrong}, headers={"HX-Request": "true"}))
        assert 'role="alert"' in refused
    client.post(there, {"mark": Annotation.objects.get().pk, "note": "why"})
    assert Annotation.objects.get().note == "why"
    client.post(there, {"undo": "yes"})
    assert not Annotation.objects.exists()
    client.force_login(raters[1])  # no rater
    assert 'role="alert"' in text_of(client.post(there, sent, headers={"HX-Request": "true"}))
    viewer = User.objects.create_user("vera", is_staff=True)
    study.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    assert client.post(there, sent).status_code == 403


def test_episodes_are_dealt_out_once_with_the_wanted_overlap(study: Study, raters: list[User]) -> None:
    for number in range(3):
        complete(study, f"p{number}")
    assert dealt(study, raters, share=80, overlap=50) == 5  # three episodes, two of them twice
    by_episode = list(EpisodeRating.objects.values_list("episode", "rater"))
    assert dealt(study, raters, share=80, overlap=50) == 0
    complete(study, "later", synthetic=True)
    assert dealt(study, raters, share=80, overlap=50, with_programs=False) == 0
    assert dealt(study, raters, share=100, overlap=50) > 0
    assert set(by_episode) <= set(EpisodeRating.objects.values_list("episode", "rater"))
    assert EpisodeRating.objects.values("episode").distinct().count() == 4


def test_later_episodes_are_doubled_like_earlier_ones_and_only_those_who_can_rate_get_them(
    study: Study, raters: list[User]
) -> None:
    def doubled() -> int:
        counted = EpisodeRating.objects.values("episode").annotate(n=Count("rater"))
        return counted.filter(n__gt=1).count()

    people = [complete(study, f"p{number}") for number in range(4)]
    left_out = Round.objects.filter(participant=people[3])
    left_out.update(left_out_at=timezone.now())
    dealt(study, raters, overlap=34)
    assert (doubled(), EpisodeRating.objects.count()) == (2, 5)
    for number in range(4, 7):
        complete(study, f"p{number}")
    study.memberships.filter(user=raters[1]).update(role="viewer")
    assert dealt(study, raters, overlap=34) == 3, "the viewer can no longer rate"
    study.memberships.filter(user=raters[1]).update(role="collaborator")
    dealt(study, raters, overlap=67)
    assert (
        doubled() == 5 and not EpisodeRating.objects.filter(episode__in=left_out.values("episode")).exists()
    )


def test_a_rater_does_not_learn_which_codes_the_others_use(
    study: Study, raters: list[User], code: AnnotationCode, client: Client
) -> None:
    complete(study)
    dealt(study, raters)
    marked(study, raters[1], code, 2)
    client.force_login(raters[0])
    page = reverse("study:staff-participants-annotation", args=[study.slug])
    told = client.get(page).content.decode()
    assert "in use" not in told and "not used yet" not in told and "Retire" in told
    client.post(page, {"remove": code.pk, "sure": "on"})
    code.refresh_from_db()
    assert code.retired_at


def test_left_out_episodes_do_not_count_for_the_agreement(
    study: Study, raters: list[User], code: AnnotationCode
) -> None:
    complete(study)
    dealt(study, raters)
    for user in raters:
        marked(study, user, code, 2)
        services.rating_done(study=study, user=user, episode=Episode.objects.get(), done=True)
    assert annotation_agreement(study)[0].units > 0
    Round.objects.update(left_out_at=timezone.now())
    assert annotation_agreement(study)[0].units == 0


def test_a_code_in_use_is_only_retired(study: Study, raters: list[User], code: AnnotationCode) -> None:
    complete(study)
    dealt(study, raters)
    marked(study, raters[0], code, 1)
    with pytest.raises(services.AnnotationError):
        services.code_save(study=study, code_id=code.pk, values={**CODE, "name": "other"})
    assert not services.code_remove(study=study, code_id=code.pk)
    with pytest.raises(services.AnnotationError):
        marked(study, raters[1], code, 1)
    services.code_save(study=study, code_id=None, values={**CODE, "name": "waits"})  # the key is free
    with pytest.raises(services.AnnotationError):
        services.code_restore(study=study, code_id=code.pk)
    assert services.code_remove(study=study, code_id=AnnotationCode.objects.get(name="waits").pk)


def test_codes_and_raters_are_set_on_the_page(study: Study, raters: list[User], client: Client) -> None:
    complete(study)
    study.memberships.filter(user=raters[0]).update(role="owner")
    client.force_login(raters[0])
    here = reverse("study:staff-participants-annotation", args=[study.slug])
    wrong = client.post(here, {**CODE, "key": "1", "code_form": "1"})
    assert wrong.status_code == 422 and "One helps the other." in text_of(wrong)
    client.post(here, {**CODE, "code_form": "1"})
    client.post(here, {**PLAN, "raters": [one.pk for one in raters], "raters_form": "1"})
    assert EpisodeRating.objects.count() == 2 and AnnotationCode.objects.get().key == "h"
    assert "0 of 1" in text_of(client.get(here))


def test_who_leaves_or_is_forgotten_takes_the_marks_along(
    study: Study, raters: list[User], code: AnnotationCode
) -> None:
    person = complete(study)
    dealt(study, raters)
    mark = marked(study, raters[0], code, 1)
    Annotation.objects.update(note="a name")
    assert participants_with_names(study.participants.all()).exists()
    erase_names([person.pk])
    mark.refresh_from_db()
    assert mark.note == "" and not participants_with_names(study.participants.all()).exists()
    participant_withdraw(participant_id=person.pk)
    assert not EpisodeRating.objects.exists() and not Annotation.objects.exists()


def test_leaving_out_an_episode_skips_people_who_withdraw_meanwhile(
    study: Study, raters: list[User], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(study)

    def erased_first(pk: int) -> Participant:
        participant_withdraw(participant_id=pk)
        return lock_participant(pk)

    monkeypatch.setattr("study.monitor.episode_exclusion.lock_participant", erased_first)
    client.force_login(raters[0])
    there = reverse("study:staff-replay-exclude", args=[study.slug, Episode.objects.get().key])
    answer = client.post(there, {"reason": "a fire alarm", "way": "out"}, follow=True)
    assert "withdrew meanwhile" in text_of(answer)
    assert not StaffAction.objects.exists()


def test_an_episode_and_a_person_are_left_out_on_the_replay_and_taken_back(
    study: Study, raters: list[User], client: Client
) -> None:
    person = complete(study)
    client.force_login(raters[0])
    key = Episode.objects.get().key
    there = reverse("study:staff-replay-exclude", args=[study.slug, key])
    client.post(there, {"reason": " ", "way": "out"})
    assert Sample(study, who="people").rounds.exists()
    client.post(there, {"reason": "a fire alarm", "way": "out"})
    sample = Sample(study, who="people")
    assert not sample.rounds.exists() and sample.untaken.count() == 1
    assert exclusion_reasons(study)[person.pk] == "not_every_condition"
    assert "a fire alarm" in text_of(client.get(reverse("study:staff-replay", args=[study.slug, key])))
    client.post(there, {"reason": "it was none", "way": "back"})
    assert Sample(study, who="people").rounds.exists() and not exclusion_reasons(study)
    act = reverse("study:staff-participants-act", args=[study.slug, person.code])
    sent = {"action": "exclude", "reason": "slept", "sure": "on", "replay": str(key)}
    assert f"/replay/{key}/" in client.post(act, sent)["Location"]
    assert Participant.objects.get().excluded_reason == "slept"
    assert list(StaffAction.objects.values_list("action", "reason"))[:2] == [
        ("leave_out", "Round 1: a fire alarm"),
        ("take_back", "Round 1: it was none"),
    ]
