"""The console: a study designed, previewed, frozen and changed by plain forms, by those who may."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from study.design.blueprint import blueprint_of
from study.design.condition_seats import has_foresight
from study.design.demo_study_files import DEMO_FILE
from study.design.models import Outcome, Study, SurveyItem
from study.design.naming_rules import RESERVED_SLUGS
from study.design.preregistration import bundle_problem, content_of, freeze_study
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_errors import DesignError
from study.design.study_files import study_from_file
from study.design.study_versions import current_version
from study.editor.condition_and_item_forms import SHOW_BUTTON
from study.editor.design_services import member_set, row_move
from study.participants.models import Participant
from study.participants.participant_counts import study_counts
from study.pilot.previews import condition_preview, study_preview
from study.researchers.models import Membership
from study.templatetags.console import design_url
from study.urls import urlpatterns
from tests.nightly import nightly, thinned
from tests.study.factories import enter, make_study, play_round

pytestmark = pytest.mark.django_db

SURE = {"sure": "on"}
"""The tick of what is asked once."""


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def owner(study: Study, client: Client) -> User:
    """Somebody without any other right owns the study and is logged in."""
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return user


def at(study: Study, name: str, *args: Any) -> str:
    """The address of a design page."""
    return reverse(f"study:staff-design-{name}", args=[study.slug, *args])


def filled(client: Client, url: str, **changes: Any) -> dict[str, Any]:
    """What a browser would send: the form as it is shown, with changes. None takes a field away."""
    form = client.get(url).context["form"]
    sent = {field.html_name: field.value() for field in form if not field.field.disabled} | changes
    return {name: value for name, value in sent.items() if value is not None and value is not False}


def test_a_shared_study_is_copied_by_somebody_who_is_no_member_of_it(client: Client) -> None:
    demo = study_from_file(DEMO_FILE)
    Study.objects.filter(pk=demo.pk).update(shared=True)
    user = User.objects.create_user("researcher", is_staff=True)
    client.force_login(user)
    assert "Cooking together" in client.get("/staff/").content.decode()

    response = client.post(at(demo, "copy"), {"title": "Mine", "slug": "mine"})

    made = Study.objects.get(slug="mine")
    assert response["Location"] == reverse("study:staff-design", args=["mine"])
    assert [(one.user, one.role) for one in made.memberships.all()] == [(user, "owner")]
    assert (made.status, made.shared, made.conditions.count()) == ("closed", False, 5)
    assert client.get("/staff/demo/").status_code == 403


def test_a_condition_is_added_with_typed_settings_copied_moved_and_deleted(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "condition-new")
    given = {"name": "Three more", "key": "three", "label": "Team X", "coplayer": "random", "teammates": 3}
    assert client.post(url, filled(client, url, **given, world__cuisine__level="level_1")).status_code == 302
    made = study.conditions.get(key="three")
    assert (made.teammates, made.settings["level"], made.position) == (3, "level_1", 2)
    page = client.get(reverse("study:staff-design", args=[study.slug])).content.decode()
    assert "and 3 teammates" in page

    client.post(at(study, "condition-act", made.pk, "copy"))
    client.post(at(study, "condition-act", made.pk, "up"))
    assert [one.key for one in study.conditions.all()] == ["c0", "three", "c1", "three_copy"]
    client.post(at(study, "condition-act", made.pk, "delete"), SURE)
    assert not study.conditions.filter(key="three").exists()


def test_long_names_of_conditions_break_so_that_what_can_be_done_stays_in_sight(
    owner: User, study: Study, client: Client
) -> None:
    page = client.get(reverse("study:staff-design", args=[study.slug])).content.decode()
    row = (
        page.partition('aria-labelledby="conditions-title"')[2].partition("<tbody>")[2].partition("</tr>")[0]
    )
    assert row.count('class="told"') == 4 and '<th scope="row" class="told">' in row


def test_a_co_player_whose_settings_were_not_on_the_page_gets_their_defaults(
    study: Study, owner: User, client: Client
) -> None:
    sent = {"name": "Two", "key": "two", "label": "X", "world": "cuisine", "teammates": 1}

    response = client.post(at(study, "condition-new"), {**sent, "coplayer": "dispatcher"})

    assert response.status_code == 302
    found = study.conditions.get(key="two").coplayer_settings
    assert (found["recipes"], found["fallback"], found["temperature"]) == (True, "planner", 0.1)


def test_a_setting_that_came_later_changes_no_design_that_is_saved_with_its_default(
    study: Study, owner: User, client: Client
) -> None:
    study.conditions.filter(key="c0").update(coplayer="dispatcher", coplayer_settings={}, teammates=1)
    row = study.conditions.get(key="c0")
    url, field = at(study, "condition", row.pk), "coplayer__dispatcher__tell_thoughts"
    for sent, stored in (({}, None), ({field: "on"}, True), ({field: None}, False)):
        assert client.post(url, filled(client, url, **sent)).status_code == 302
        row.refresh_from_db()
        assert row.coplayer_settings.get("tell_thoughts") is stored


def test_a_system_text_is_kept_as_it_was_written_and_one_that_lacks_something_is_refused_at_its_field(
    study: Study, owner: User, client: Client
) -> None:
    study.conditions.filter(key="c0").update(coplayer="dispatcher", coplayer_settings={}, teammates=1)
    row = study.conditions.get(key="c0")
    url, field = at(study, "condition", row.pk), "coplayer__dispatcher__prompt"
    own = "Be quick.\n\n{task}\n{recipes}\n{instructions}\n{hints}\n{talk}\n{demonstration}"
    assert client.post(url, filled(client, url, **{field: own.replace("\n", "\r\n")})).status_code == 302
    row.refresh_from_db()
    assert row.coplayer_settings["prompt"] == own
    refused = client.post(url, filled(client, url, **{field: "{task}{talk}{hints}{demonstration}"}))
    lacks = "{recipes} and {instructions} are missing: put in what is switched on, or switch it off."
    assert refused.context["form"].errors[field] == [lacks]
    row.refresh_from_db()
    assert row.coplayer_settings["prompt"] == own


def test_a_new_condition_begins_with_a_demonstration_of_good_play_and_an_old_one_keeps_its_own(
    study: Study, owner: User, client: Client
) -> None:
    url, field = at(study, "condition-new"), "coplayer__dispatcher__demonstration_play"
    given = {"name": "New", "key": "new", "label": "N", "coplayer": "dispatcher", "teammates": 1}
    assert client.post(url, filled(client, url, **given)).status_code == 302
    assert study.conditions.get(key="new").coplayer_settings["demonstration_play"] == "team"
    study.conditions.filter(key="c0").update(coplayer="dispatcher", coplayer_settings={}, teammates=1)
    url = at(study, "condition", study.conditions.get(key="c0").pk)
    assert filled(client, url)[field] == "dish"


def test_what_cannot_be_played_is_told_at_its_field_and_nothing_is_saved(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "condition", study.conditions.get(key="c0").pk)

    response = client.post(url, filled(client, url, coplayer="random", teammates=0))

    assert response.status_code == 422
    assert response.context["form"].errors["teammates"]
    assert study.conditions.get(key="c0").coplayer == "none"


def test_three_dimensions_are_offered_where_the_world_has_them(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "condition", study.conditions.get(key="c0").pk)
    sent = filled(client, url, three_dimensions="on")
    for world, there in (("cuisine", True), ("overcooked", False)):
        folds = client.post(url, {**sent, "world": world, SHOW_BUTTON: "1"}).context["folds"]
        assert ("three_dimensions" in [field.name for fold in folds for field in fold.fields]) == there
    wrong = client.post(url, {**sent, "world": "overcooked", "coplayer": "greedy", "teammates": "1"})
    assert wrong.context["form"].errors == {
        "three_dimensions": ["Overcooked has no view in three dimensions."]
    }
    (fold,) = (fold for fold in wrong.context["folds"] if fold.is_open)
    assert "three_dimensions" in [field.name for field in fold.fields]


@pytest.mark.parametrize(
    ("world", "given", "offered"),
    [("overcooked", "0", "1"), *nightly(("overcooked", "2", "2"), ("cuisine", "0", "0"))],
)
def test_a_world_that_needs_so_many_teammates_offers_them_where_no_number_was_given(
    study: Study, owner: User, client: Client, world: str, given: str, offered: str
) -> None:
    url = at(study, "condition-new")
    sent = filled(client, url, world=world, teammates=given)
    assert client.post(url, {**sent, SHOW_BUTTON: "1"}).context["form"]["teammates"].value() == offered


def test_a_condition_that_participants_have_in_their_plan_stays(
    study: Study, owner: User, client: Client
) -> None:
    enter(study)
    row = study.conditions.get(key="c0")

    response = client.post(at(study, "condition-act", row.pk, "delete"), SURE, follow=True)

    assert "in the plan" in response.content.decode()
    assert study.conditions.filter(pk=row.pk).exists()


def test_the_words_of_a_part_are_previewed_and_saved(study: Study, owner: User, client: Client) -> None:
    url = at(study, "part", "consent")
    sent = {"enabled": "on", "text": "**Please** read.", "statements": "I am 18.\nI agree."}

    shown = client.post(url, {**sent, "_preview": "1"}).content.decode()
    assert "<strong>Please</strong>" in shown
    assert blueprint_of(study).part("consent").text == "I agree."

    assert client.post(url, sent).status_code == 302
    part = blueprint_of(Study.objects.get(pk=study.pk)).part("consent")
    assert (part.text, part.settings) == ("**Please** read.", {"statements": ["I am 18.", "I agree."]})


def test_a_consent_without_words_is_refused_at_its_field(study: Study, owner: User, client: Client) -> None:
    response = client.post(at(study, "part", "consent"), {"enabled": "on", "text": "", "statements": ""})

    assert response.status_code == 422
    assert set(response.context["form"].errors) >= {"statements"}


def test_practice_and_check_have_typed_settings(study: Study, owner: User, client: Client) -> None:
    url = at(study, "part", "practice")
    given = {
        "enabled": "on",
        "coplayer": "random",
        "teammates": 1,
        "world": "cuisine",
        "world__cuisine__level": "level_1",
    }
    response = client.post(url, filled(client, url, **given))
    assert response.status_code == 302, response.context["form"].errors
    sent = {"enabled": "on", "attempts": 3, "on_failure": "continue"}
    assert client.post(at(study, "part", "check"), sent).status_code == 302

    design = blueprint_of(Study.objects.get(pk=study.pk))
    kitchen = design.part("practice").settings["kitchen"]
    assert (kitchen["settings"]["level"], kitchen["coplayer"], kitchen["teammates"]) == (
        "level_1",
        "random",
        1,
    )
    assert design.part("check").settings == {"attempts": 3, "on_failure": "continue"}


def test_questions_are_added_shipped_ones_and_attention_checks_too(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "item-new") + "?kind=attention"
    assert client.post(url, filled(client, url)).status_code == 302
    check = study.items.get(key="attention")
    assert (check.place, check.kind, check.correct, check.required) == ("survey", "likert", 2, True)

    client.post(at(study, "instruments"), {"instrument": "nasa_tlx"})
    assert study.items.filter(key__startswith="tlx_").count() == 6
    again = client.post(at(study, "instruments"), {"instrument": "nasa_tlx"}, follow=True)
    assert "has already been added" in again.content.decode()

    client.post(at(study, "item-act", check.pk, "switch"))
    assert not SurveyItem.objects.get(pk=check.pk).enabled
    client.post(at(study, "item-act", check.pk, "delete"), SURE)
    assert not study.items.filter(pk=check.pk).exists()


def test_moving_goes_among_items_of_one_place_even_if_they_share_a_position(study: Study) -> None:
    study.items.update(position=0)
    rows = list(study.items.all())

    row_move(rows[1], by=-1)

    assert [one.key for one in study.items.all()] == ["i1", "i0"]


def test_prolific_needs_its_code_and_gets_it(study: Study, owner: User, client: Client) -> None:
    client.post(at(study, "recruitment"), {"recruitment": "prolific"})
    study.refresh_from_db()
    assert [one.page for one in blocking_problems(study)] == ["outcomes"]

    check = study.parts.create(kind="check", enabled=True)
    for check.enabled in (True, False):  # nobody can fail a check that is off
        check.save()
        told = [one for one in readiness_problems(study) if "failed the check" in one.words]
        assert bool(told) is check.enabled
    wrong = client.post(at(study, "outcomes"), {"complete-url": "nowhere"})
    assert wrong.status_code == 422
    client.post(at(study, "outcomes"), {"complete-code": "C1", "failed_check-code": "C2"})

    assert {one.kind: one.code for one in study.outcomes.all()} == {"complete": "C1", "failed_check": "C2"}
    assert blocking_problems(study) == []
    client.post(at(study, "outcomes"), {"complete-code": "C3"})
    assert Outcome.objects.get(study=study).code == "C3"


def test_recruiting_by_label_offers_links_that_nobody_can_guess(
    study: Study, owner: User, client: Client
) -> None:
    assert not client.get(at(study, "recruitment")).context["links"]
    Study.objects.update(recruitment="label")
    for asked, number in (("", 20), ("3", 3), ("0", 1), ("99999", 500), ("²", 20), ("many", 20)):
        response = client.get(at(study, "recruitment"), {"links": asked})
        links = response.context["links"]
        assert len(set(links)) == number
        made = rf"http://testserver/s/{study.slug}/\?label=\w{{10}}&proof=\w{{32}}"
        assert all(re.fullmatch(made, one) for one in links)
    page = response.content.decode()
    assert "do not number" in page.partition("<summary>What each of them needs</summary>")[2]
    assert page.index("What each of them needs") > page.index('id="id_recruitment"')
    assert links[0].replace("&", "&amp;") in response.content.decode()
    assert "Begin" in Client().get(links[0]).content.decode()


def test_a_study_without_conditions_cannot_be_opened(owner: User, client: Client) -> None:
    client.post("/staff/new/", {"title": "New", "slug": "newer"})
    made = Study.objects.get(slug="newer")

    response = client.post(at(made, "state"), {"state": "open"}, follow=True)

    made.refresh_from_db()
    assert made.status == "closed"
    assert "There is no condition yet" in response.content.decode()
    assert readiness_problems(made)[0].hinders


def test_what_is_missing_leads_to_its_field(study: Study, owner: User, client: Client) -> None:
    plan = {"planned_contrasts": "nobody: a - b", "planned_participants": 3, "recruitment": "prolific"}
    Study.objects.filter(pk=study.pk).update(closes_at=timezone.now(), **plan)
    study.conditions.update(label="Same")
    study.parts.filter(kind="consent").update(text="", enabled=True)
    problems = [one for one in readiness_problems(Study.objects.get()) if one.field]
    assert {one.page for one in problems} >= {"plan", "condition", "part", "recruitment", "outcomes"}
    for one in problems:
        address = design_url(study, one)
        assert f'id="{address.partition("#")[2]}"' in client.get(address).content.decode(), address


def test_a_study_without_a_name_in_the_link_gets_one_from_its_title(owner: User, client: Client) -> None:
    for _ in range(2):
        client.post(reverse("study:staff-new"), {"title": "Soup & people", "slug": ""})
    assert {"soup-people", "soup-people2"} <= set(Study.objects.values_list("slug", flat=True))


def test_no_page_of_the_console_can_be_taken_by_the_name_of_a_study() -> None:
    tails = (str(one.pattern).removeprefix("staff/") for one in urlpatterns if "staff/" in str(one.pattern))
    firsts = {tail.partition("/")[0] for tail in tails}
    assert {first for first in firsts if first and not first.startswith("<")} == RESERVED_SLUGS


@pytest.mark.parametrize("slug", thinned(sorted(RESERVED_SLUGS), 4))
def test_a_study_is_not_called_like_a_page_of_the_console(owner: User, client: Client, slug: str) -> None:
    assert client.post("/staff/new/", {"title": "New", "slug": slug}).status_code == 422


def test_a_warning_that_comes_too_late_is_refused_at_its_field(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "settings")
    late = client.post(url, filled(client, url, idle_warning_minutes=20, idle_minutes=15))
    assert "idle_warning_minutes" in late.context["form"].errors
    assert client.post(url, filled(client, url, idle_warning_minutes=20, idle_minutes="")).status_code == 302


def test_orders_that_no_longer_fit_stop_no_other_form(study: Study, owner: User, client: Client) -> None:
    study.conditions.all().delete()
    for number in range(10):
        study.conditions.create(key=f"k{number}", name=f"N{number}", label=f"L{number}")
    Study.objects.filter(pk=study.pk).update(orders="permutations")
    url = at(study, "plan")
    assert client.post(url, filled(client, url, planned_participants=5)).status_code == 302
    assert client.post(at(study, "orders"), {"orders": "permutations"}).status_code == 422


def test_new_and_copied_conditions_get_the_next_neutral_label(
    study: Study, owner: User, client: Client
) -> None:
    study.conditions.filter(key="c0").update(label="Team A")
    assert client.get(at(study, "condition-new")).context["form"]["label"].value() == "Team B"
    client.post(at(study, "condition-act", study.conditions.get(key="c0").pk, "copy"))
    assert study.conditions.get(key="c0_copy").label == "Team B"


def test_wrong_codes_are_told_above_the_form_with_a_link_to_each(
    study: Study, owner: User, client: Client
) -> None:
    page = client.post(at(study, "outcomes"), {"timed_out-url": "nowhere"}).content.decode()
    assert '<a href="#id_timed_out-url">Timed out, address: An address begins with https://' in page


@pytest.mark.parametrize("url", ["https://x.example/{foo}", "https://x.example/{code", "https://x/{{code}}"])
def test_an_address_with_a_mistyped_placeholder_is_not_saved(
    study: Study, owner: User, client: Client, url: str
) -> None:
    wrong = client.post(at(study, "outcomes"), {"complete-url": url})
    assert wrong.status_code == 422
    assert "Only {code} and {label} may stand in braces" in wrong.content.decode()
    assert not study.outcomes.exists()

    client.post(at(study, "outcomes"), {"complete-url": "https://x.example/{label}?cc={code}"})
    assert study.outcomes.get().url == "https://x.example/{label}?cc={code}"


@pytest.mark.parametrize(
    ("recruitment", "query"),
    [
        ("anonymous", ""),
        ("label", "?label={LABEL}"),
        ("mturk", ""),
        (
            "prolific",
            "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}&amp;SESSION_ID={{%SESSION_ID%}}",
        ),
        ("sona", "?survey_code=%SURVEY_CODE%"),
    ],
)
def test_the_link_with_what_its_place_fills_in_is_there_to_copy(
    study: Study, owner: User, client: Client, recruitment: str, query: str
) -> None:
    Study.objects.filter(pk=study.pk).update(recruitment=recruitment)
    overview = reverse("study:staff-design", args=[study.slug])
    for url in (overview, at(study, "recruitment"), reverse("study:staff-study", args=[study.slug])):
        page = client.get(url).content.decode()
        assert f'class="link-code">http://testserver/s/small/{query}</code>' in page
        assert 'data-copy="participant-link"' in page


def test_codes_are_for_members_and_are_not_copied(study: Study, client: Client) -> None:
    Study.objects.filter(pk=study.pk).update(shared=True, closes_at=timezone.now())
    study.outcomes.create(kind="complete", code="S3CRET", url="https://x.example/?cc=S3CRET", text="Thanks.")
    study.outcomes.create(kind="timed_out", code="S3CRET", url="https://x.example/?cc={code}")
    study.outcomes.create(kind="technical", code="S3CRET")
    client.force_login(User.objects.create_user("stranger", is_staff=True))
    assert "S3CRET" not in client.get(reverse("study:staff-design", args=[study.slug])).content.decode()

    client.post(at(study, "copy"), {"title": "Mine", "slug": "mine"})

    made = Study.objects.get(slug="mine")
    assert made.closes_at is None
    found = [(one.kind, one.code, one.url, one.text) for one in made.outcomes.all()]
    assert found == [("complete", "", "", "Thanks."), ("timed_out", "", "https://x.example/?cc={code}", "")]
    page = client.get(reverse("study:staff-design", args=["mine"])).content.decode()
    assert "cc={code}" in page


def test_the_link_is_fixed_once_somebody_entered_but_not_by_a_preview(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "settings")
    study_preview(study_id=study.pk)
    assert not client.get(url).context["form"].fields["slug"].disabled
    enter(study)
    assert client.get(url).context["form"].fields["slug"].disabled


def test_a_study_with_data_is_not_deleted_and_one_with_previews_is(
    study: Study, owner: User, client: Client
) -> None:
    other = make_study("other")
    member_set(study_id=other.pk, user=owner, role="owner")
    enter(study)
    condition_preview(condition=other.conditions.all()[0])

    client.post(at(study, "delete"), {"confirm": study.slug})
    client.post(at(other, "delete"), {"confirm": "something"})
    assert Study.objects.count() == 2
    client.post(at(other, "delete"), {"confirm": "other"})
    assert list(Study.objects.all()) == [study]


def test_a_study_keeps_an_owner(study: Study, owner: User, client: Client) -> None:
    friend = User.objects.create_user("friend", is_staff=True)
    client.post(at(study, "members"), {"user": "friend", "role": "viewer"})
    assert study.memberships.get(user=friend).role == Membership.Role.VIEWER
    with pytest.raises(DesignError, match="needs an owner"):
        member_set(study_id=study.pk, user=owner, role="viewer")
    mine = study.memberships.get(user=owner)
    client.post(at(study, "member-gone", mine.pk), SURE)
    assert study.memberships.filter(pk=mine.pk).exists()
    assert client.post(at(study, "members"), {"user": "stranger", "role": "viewer"}).status_code == 422


def test_one_condition_is_previewed_without_the_other_parts_and_counted_nowhere(
    study: Study, owner: User, client: Client
) -> None:
    Study.objects.filter(pk=study.pk).update(status="closed")
    row = study.conditions.get(key="c1")

    response = client.post(at(study, "condition-preview", row.pk))

    person = Participant.objects.get(preview=True)
    assert response["Location"] == person.get_absolute_url()
    assert [one.condition for one in person.rounds.all()] == [row]
    play_round(person)
    person.refresh_from_db()
    assert person.status == "complete"
    assert (person.synthetic, study_counts(study).entered) == (False, 0)
    client.post(at(study, "previews-gone"), SURE)
    study.refresh_from_db()
    assert (study.participants.count(), study.withdrawn) == (0, 0)


def test_a_preregistration_is_handed_over_as_one_file_whose_hash_anybody_computes(
    study: Study, owner: User, client: Client, tmp_path: Path
) -> None:
    frozen = freeze_study(study_id=study.pk, user=owner)
    answer = client.get(reverse("study:staff-preregistration-handed", args=[study.slug, frozen.number]))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / f"{study.slug}_preregistration_{frozen.number}"
    names = {path.name for path in folder.iterdir()}
    assert names == {"README.txt", "preregistration.html", "preregistration.json"}
    assert json.loads((folder / "preregistration.json").read_text()) == frozen.bundle
    readme = (folder / "README.txt").read_text()
    command = textwrap.dedent(readme.partition('python3 -c "')[2].rpartition('"')[0])
    said = subprocess.run(
        [sys.executable, "-S", "-c", command], cwd=folder, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == frozen.bundle_digest
    page = (folder / "preregistration.html").read_text()
    assert frozen.bundle_digest in page
    assert not re.search(r"(src|href)=", page)


def test_freezing_stores_what_anybody_can_compute_again(
    study: Study, owner: User, client: Client, tmp_path: Path, capsys: Any
) -> None:
    study.conditions.filter(key="c1").update(coplayer="dispatcher", teammates=2)
    client.post(reverse("study:staff-preregistration-freeze", args=[study.slug]), SURE)
    version = study.versions.get()
    assert version.bundle is not None
    assert version.bundle_digest == version.bundle["sha256"]
    prompts = version.bundle["content"]["prompts"]
    assert prompts["c0"] == []
    assert "You are the dispatcher of a kitchen" in prompts["c1"][0]
    assert "agent1 and agent2" in prompts["c1"][0]
    orders = [one["order"] for one in version.bundle["content"]["orders"]["sequences"]]
    assert orders == [["c0", "c1"], ["c1", "c0"]]
    assert content_of(version.blueprint) == version.bundle["content"]

    args = [study.slug, version.number]
    path = tmp_path / "bundle.json"
    path.write_bytes(client.get(reverse("study:staff-preregistration-bundle", args=args)).content)
    call_command("verify_preregistration", path)
    assert "fits: version 1" in capsys.readouterr().out
    page = client.get(reverse("study:staff-preregistration-readable", args=args)).content.decode()
    assert "it is the same" in page
    assert version.bundle_digest in page

    changed = json.loads(path.read_text())
    changed["content"]["design"]["study"]["exclusions"] = "none"
    path.write_text(json.dumps(changed))
    assert bundle_problem(changed)
    with pytest.raises(CommandError, match="was changed") as caught:
        call_command("verify_preregistration", path)
    assert caught.value.returncode == 1
    changed = json.loads(json.dumps(version.bundle))
    changed["frozen"]["at"] = "2020-01-01T00:00:00+00:00"
    assert "was frozen was changed" in bundle_problem(changed)
    assert "has frozen_by" in bundle_problem({**version.bundle, "frozen_by": "eve"})
    assert "format 9" in bundle_problem({**version.bundle, "format": 9})
    assert "does not say when" in bundle_problem({**version.bundle, "frozen": "2026-01-01"})
    older = {**changed, "format": 1, "sha256": changed["content_sha256"]}
    path.write_text(json.dumps(older))
    call_command("verify_preregistration", path)
    assert "not the date" in capsys.readouterr().out
    for nothing in ("no json", "{}"):
        path.write_text(nothing)
        with pytest.raises(CommandError) as caught:
            call_command("verify_preregistration", path)
        assert caught.value.returncode == 2


def test_freezing_twice_is_freezing_once_and_later_edits_are_told(
    study: Study, owner: User, client: Client
) -> None:
    first = freeze_study(study_id=study.pk, user=owner)
    assert freeze_study(study_id=study.pk, user=owner).frozen_at == first.frozen_at
    url = at(study, "settings")
    assert client.post(url, filled(client, url, title="Another title")).status_code == 302
    enter(study)

    page = client.get(reverse("study:staff-preregistration", args=[study.slug])).content.decode()

    assert "Changed since the frozen version" in page
    assert "Another title" in page
    assert "changed since freeze" in page
    assert current_version(study_id=study.pk).number == 2


def test_what_is_unfinished_is_not_frozen(study: Study, owner: User) -> None:
    study.parts.filter(kind="consent").update(text="")
    with pytest.raises(DesignError, match="Write what participants agree to"):
        freeze_study(study_id=study.pk, user=owner)
    assert not study.versions.exists()


def test_a_question_of_a_part_that_is_off_keeps_the_study_closed(study: Study, owner: User) -> None:
    SurveyItem.objects.update(place="final")
    part = study.parts.create(kind="final", enabled=False)
    (problem,) = [one for one in blocking_problems(study) if "this part is off" in one.words]
    assert (problem.page, problem.args) == ("part", ("final",))
    part.enabled = True
    part.save()
    assert not blocking_problems(study)


def test_an_unknown_placeholder_in_the_consent_is_the_only_problem(
    study: Study, owner: User, client: Client
) -> None:
    study.parts.filter(kind="consent").delete()
    url = at(study, "part", "consent")
    sent = {"enabled": "on", "title": "", "text": "I agree, {answer:name}.", "statements": "I am 18."}
    form = client.post(url, sent).context["form"]
    assert list(form.errors) == ["text"] and len(form.errors["text"]) == 1
    assert "Write what participants agree to" not in str(form.errors)


def test_the_orders_page_shows_what_follows_what(study: Study, owner: User, client: Client) -> None:
    client.post(at(study, "orders"), {"orders": "fixed"})

    page = client.get(at(study, "orders"))

    assert page.context["orders"]["rows"] == [(1, ["Condition 0", "Condition 1"])]
    assert page.context["orders"]["carry_over"] == [("Condition 0", ["", 1]), ("Condition 1", [0, ""])]


def test_what_destroys_is_asked_once_and_does_nothing_without_the_tick(
    study: Study, owner: User, client: Client
) -> None:
    study_preview(study_id=study.pk)
    enter(study, "a program", synthetic=True)
    friend = study.memberships.create(user=User.objects.create_user("friend"), role="viewer")
    urls = [
        at(study, "condition-act", study.conditions.all()[0].pk, "delete"),
        at(study, "item-act", study.items.all()[0].pk, "delete"),
        at(study, "previews-gone"),
        at(study, "synthetic-gone"),
        at(study, "member-gone", friend.pk),
        reverse("study:staff-preregistration-freeze", args=[study.slug]),
    ]
    pages = ("staff-design", "staff-design-members", "staff-preregistration")
    shown = "".join(
        client.get(reverse(f"study:{page}", args=[study.slug])).content.decode() for page in pages
    )

    for url in urls:
        assert f'action="{url}"' in shown
        assert "tick the box to confirm" in client.post(url, follow=True).content.decode()

    assert (study.conditions.count(), study.items.count(), study.participants.count()) == (2, 2, 2)
    assert study.memberships.filter(pk=friend.pk).exists()
    assert not study.versions.exclude(frozen_at=None).exists()


def test_a_preview_begins_with_the_welcome_page_also_while_the_study_is_closed(
    study: Study, owner: User, client: Client
) -> None:
    Study.objects.update(status="closed")
    study.parts.create(kind="welcome", text="# Cook with us")
    page = client.get(at(study, "preview")).content.decode()
    assert "Preview: nothing here counts" in page
    assert "<h2>Cook with us</h2>" in page
    assert not study.participants.exists()
    assert client.post(at(study, "preview")).status_code == 302
    assert study.participants.get().preview


def test_a_closing_date_that_is_over_is_refused_unless_it_was_there(
    study: Study, owner: User, client: Client
) -> None:
    url = at(study, "recruitment")
    answer = client.post(url, filled(client, url, closes_at="1999-01-01 10:00"))
    assert answer.status_code == 422
    assert "This time has passed." in answer.content.decode()
    Study.objects.update(closes_at="2020-01-01T10:00:00Z")
    sent = filled(client, url, max_participants="7")
    assert client.post(url, {**sent, "closes_at": "2020-01-01 10:00"}).status_code == 302
    assert Study.objects.get().max_participants == 7


def test_every_page_of_the_console_says_who_is_logged_in_and_logs_out(
    study: Study, owner: User, client: Client
) -> None:
    page = client.get("/staff/").content.decode()
    assert "researcher" in page
    assert 'action="/admin/logout/"' in page
    client.post("/admin/logout/")
    assert client.get("/staff/").status_code == 302


def test_a_ready_design_becomes_a_study_by_its_form(owner: User, client: Client) -> None:
    assert "Begin with" in client.get("/staff/new/").content.decode()
    given = {"title": "Soups", "slug": "soups", "begins_as": "overcooked"}
    assert client.post("/staff/new/", given).status_code == 302
    made = Study.objects.get(slug="soups")
    assert (made.title, made.status, made.memberships.get().user) == ("Soups", "closed", owner)
    assert made.conditions.count() == 15 and blocking_problems(made) == []
    assert blueprint_of(made).practice.world == "overcooked"
    assert (
        sum(map(has_foresight, made.conditions.all())) == 5
    )  # so the share of right predictions is measured
    assert client.post("/staff/new/", {**given, "slug": "other", "begins_as": "x"}).status_code == 422


def test_a_ready_study_is_one_click_away_as_often_as_one_wants(owner: User, client: Client) -> None:
    assert 'name="begins_as" value="two_worlds"' in client.get("/staff/").content.decode()
    found = [client.post("/staff/new/", {"begins_as": "two_worlds"}) for _ in range(2)]
    made = [Study.objects.get(slug=slug) for slug in ("two-worlds-study", "two-worlds-study2")]
    assert [one.headers["Location"] for one in found] == [f"/staff/{one.slug}/design/" for one in made]
    assert {(one.status, one.title) for one in made} == {("closed", "Two kitchens, two teams")}
    assert blocking_problems(made[1]) == []
    assert client.post("/staff/new/", {"begins_as": "x"}).status_code == 422


def test_a_viewer_reads_conditions_texts_and_questions_and_changes_none(
    study: Study, owner: User, client: Client
) -> None:
    study.memberships.update(role="viewer")
    condition, item = study.conditions.all()[0], study.items.all()[0]
    overview = client.get(reverse("study:staff-design", args=["small"])).content.decode()
    for url, shown in (
        (at(study, "condition", condition.pk), condition.label),
        (at(study, "part", "consent"), "I agree."),
        (at(study, "item", item.pk), item.text),
    ):
        page = client.get(url).content.decode()
        assert f'href="{url}"' in overview and shown in page
        assert "<fieldset disabled>" in page and 'type="submit">Save' not in page
        assert client.post(url, {}).status_code == 403
    refused = client.get(at(study, "item-new"))
    assert refused.status_code == 403 and "your role does not allow this page" in refused.content.decode()
    assert "sign in first" not in refused.content.decode()
