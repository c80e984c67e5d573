"""Create a study with a participant on every page, for tests that check all pages. The Django shell of the
app runs this module.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from kitchen.contract.world import Json
from kitchen.money.models import Budget, Spending
from kitchen.play.models import Episode
from kitchen.play.policies.models import UploadedPolicy
from kitchen.replay.import_trials import store_trial
from study.design.media_storage import store_media
from study.design.models import Condition, OwnPage, Study, StudyMedia, StudyPart, SurveyItem
from study.design.page_and_item_order import LOBBY, PAGES, READY, WAITING
from study.design.preregistration import freeze_study
from study.monitor import annotation_services as services
from study.participants import next_page
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant
from study.participants.sound_recordings import SoundTake
from study.participants.stored_datasets import FINISHED, order_dataset
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import answers_submit, check_submit, finish_page
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.dry_run_jobs import claim_dry_run, dry_run_create, dry_run_stop
from study.researchers.api_tokens import digest_of
from study.researchers.invitations import invitation_make
from study.researchers.models import StaffInvitation
from study.researchers.second_factor import factor_begin
from tests.kitchen.worlds.overcooked.test_released_trials import played
from tests.study.factories import SETTINGS, add_factor, make_study, play_out
from tests.study.media_samples import NOTES

SLUG, SHUT, LABELLED, BUSY = "scenes", "scenes-shut", "scenes-labelled", "scenes-busy"
SHOWN = ("tables", "drawn")
"""The ways to show a world, other than drawing and tables together."""
CODE = "scenes-plays"
"""The code of the participant who is in a kitchen."""
EPISODE = "5eed5eed-0000-4000-8000-000000000001"
"""The key of a practice episode that was played to its end."""
IMPORTED, DATASET = "5eed5eed-0000-4000-8000-000000000002", "5eed5eed00000002"
"""The keys of an imported game, and of a finished dataset."""
PK = 990_001
INVITED = "the-secret-of-an-invitation-that-nobody-used"
"""The primary key of a condition, and of an item."""
STAFF, PASSWORD = "scenes-staff", "scenes-password"
PARTS: dict[str, dict[str, Json]] = {
    "welcome": {"text": "Welcome to **this** study."},
    "about": {"text": "A few words first."},
    "practice": {"settings": {}},
    "check": {"settings": {"attempts": 9}},
    "final": {"text": "Look back."},
    "debriefing": {"text": "# What it was\n\nIt was about [teams](https://example.org/)."},
}
ITEMS: list[dict[str, Any]] = [
    {"place": "about", "kind": "number", "minimum": 18, "maximum": 99, "step": 1},
    {"place": "about", "kind": "multiple", "options": ["Board games", "Video games"]},
    {"place": "about", "kind": "single", "options": ["Yes", "No"], "required": False},
    {"place": "check", "kind": "single", "options": ["Right", "Wrong"], "correct": "Right"},
    {"place": "check", "kind": "number", "correct": 3},
    {"place": "survey", "points": 11, "low": "Very low", "high": "Very high"},
    {
        "place": "survey",
        "kind": "number",
        "minimum": 0,
        "maximum": 100,
        "step": 5,
        "low": "Low",
        "high": "High",
    },
    {"place": "survey", "kind": "text"},
    {"place": "final", "kind": "team"},
    {"place": "final", "kind": "text", "required": False},
]
VALUES: dict[str, Json] = {"single": "Right", "multiple": ["Board games"], "number": 33, "text": "x"}


def scenes() -> None:
    """Create all scenes. Print as JSON the address of each scene by its name."""
    study = whole_study()
    make_study(SHUT, status=Study.Status.CLOSED)
    make_study(LABELLED, recruitment="label")
    participant_enter(study_id=make_study(BUSY, entries_per_minute=1).pk, entry="busy")
    user = User.objects.create_superuser(STAFF, password=PASSWORD)
    UploadedPolicy.objects.create(
        pk=PK, name="net", sha256="0" * 64, card={}, world="overcooked", milliseconds=1, scores={"itself": 40}
    )
    invited, _ = invitation_make(by=user, name="Eve", role="viewer", studies=[study])
    StaffInvitation.objects.filter(pk=invited.pk).update(digest=digest_of(INVITED))
    game = store_trial(played(), name="t1", file_hash="0" * 64, file_name="games.csv")
    Episode.objects.filter(pk=game.pk).update(key=IMPORTED)
    made = order_dataset(study.pk, form="steps")
    made.note(state=FINISHED, exported=0, steps=0, left_out=[])
    made.folder.rename(made.folder.with_name(DATASET))
    factor_begin(user)
    freeze_study(study_id=study.pk, user=user)
    dry_runs(study, user)
    found = {page: on_page(study, page) for page in PAGES if page not in {WAITING, LOBBY, READY}}
    found |= {WAITING: waits(), LOBBY: on_page(meeting(), LOBBY)}
    cards = around()
    found |= {READY: on_page(cards, "play"), "rated": on_page(cards, "survey")}
    found["break"] = resting()
    found |= {f"play, {way}": on_page(shown(way), "play") for way in SHOWN}
    found["practised"] = on_page(study, "practice")
    assert found["practised"].practice
    play_out(found["practised"].practice)
    Episode.objects.filter(practised_by=found["practised"]).update(key=EPISODE)
    annotated(study, user)
    for status in Participant.Status:
        if status not in {Participant.Status.ACTIVE, Participant.Status.COMPLETE}:
            found[status.value] = entered(study)
            participant_end(participant_id=found[status.value].pk, status=status)
    Participant.objects.filter(pk=found["play"].pk).update(code=CODE)
    change(study)
    print(json.dumps({name: one.get_absolute_url() for name, one in found.items()} | addresses(study)))


def annotated(study: Study, user: User) -> None:
    """Let the staff rate the practice episode, with a mark."""
    values = {"name": "helps", "key": "h", "colour": "3", "description": "One helps another."}
    services.code_save(study=study, code_id=None, values=values)
    plan = {"share": 100, "overlap": 100, "unit": "step", "with_programs": False}
    services.raters_assign(study=study, users=[user], plan=plan)
    where: dict[str, Any] = {"study": study, "user": user, "episode": Episode.objects.get(key=EPISODE)}
    services.rating_take(**where)
    row: dict[str, Any] = {"pk": 1, "key": "a", "number": 1, "kind": "webm", "steps": [[0, 0]]}
    person = study.participants.get(practice=where["episode"])
    SoundTake.objects.create(participant=person, episode=where["episode"], **row)
    services.mark_make(**where, code_id=study.annotation_codes.get().pk, first=1, last=2)


def waits() -> Participant:
    """Create a participant whose first round waits because the budget is spent."""
    study = make_study("scenes-waits", conditions=1, pauses_when_spent=True)
    asks = {"model": "anthropic:claude-haiku-4-5"}
    study.conditions.update(coplayer="dispatcher", coplayer_settings=asks, teammates=1)
    person = participant_enter(study_id=study.pk, entry="waits")
    study.budget = Budget.objects.create(name="scenes-waits", limit=study.budget_limit)
    study.save()
    Spending.objects.create(budget=study.budget, reserved=10, spent=10)
    consent_given(participant_id=person.pk)
    finish_page(participant_id=person.pk, page="guide")
    return person


def dry_runs(study: Study, user: User) -> None:
    """Create one dry run that has ended and one that is running."""
    wish: dict[str, Any] = {
        "participants": 40,
        "at_once": 2,
        "shares": OutcomeShares(drop_outs=15, withdrawals=5),
    }
    over = dry_run_create(study_id=study.pk, user=user, seed=1, **wish)
    dry_run_stop(run=over, user=user)
    claim_dry_run(run_id=dry_run_create(study_id=study.pk, user=user, seed=2, **wish).pk)


def change(study: Study) -> None:
    """Change the frozen design: a long text, a list, a setting, and one more question."""
    study.parts.filter(kind="welcome").update(text="Other words. " * 40)
    study.parts.filter(kind="consent").update(settings={"statements": ["I agree.", "I am 18 or older."]})
    study.conditions.filter(pk=PK).update(settings=SETTINGS | {"level": "level_1"})
    words = {"key": "more", "measure": "More", "text": "One question more?", "position": 99}
    SurveyItem.objects.create(study=study, **words)


def addresses(study: Study) -> dict[str, str]:
    """Return the addresses of pages that belong to no participant."""
    shut, labelled = (reverse("study:enter", args=[slug]) for slug in (SHUT, LABELLED))
    left = make_study("left-by-one", languages="en es")  # who withdraws ends the datasets of a study
    leaving = reverse("study:withdraw", args=[entered(left).key])
    guest = entered(study).guest_key
    return {
        "home": "/",
        "welcome": study.get_absolute_url(),
        "stored": reverse("study:stored", args=[study.slug]),
        "closed": shut,
        "labelled": labelled,
        "withdraw": leaving,
        "busy": reverse("study:enter", args=[BUSY]),
        "guest": reverse("study:participant", args=[guest]),
        "guest leaves": reverse("study:withdraw", args=[guest]),
        "missing": "/nowhere/",
    }


def whole_study() -> Study:
    """Create a study with every part and items of all kinds."""
    study = make_study(SLUG, items=1, languages="en es")
    add_factor(study)
    for kind, values in PARTS.items():
        StudyPart.objects.create(study=study, kind=kind, enabled=True, **values)
    team = {"key": "team", "name": "Team", "label": "Team", "position": 9, "settings": SETTINGS}
    team["levels"] = {"steps": "few"}
    Condition.objects.create(pk=PK, study=study, coplayer="planner", teammates=2, **team)
    words = {"key": "shown", "measure": "Shown", "text": "Shown?", "position": 0}
    SurveyItem.objects.create(pk=PK, study=study, **words)
    OwnPage.objects.create(pk=PK, study=study, key="pause", before="final", title="Pause", text="A break.")
    notes = store_media(study, "notes.txt", NOTES)
    StudyMedia.objects.filter(pk=notes.pk).update(id=PK)
    for number, row in enumerate(ITEMS, start=1):
        words = {"key": f"x{number}", "measure": f"X{number}", "text": f"Question {number}?"}
        SurveyItem.objects.create(study=study, position=number, **words, **row)
    return study


def shown(way: str) -> Study:
    """Create a study that shows its world in this view, has teammates, and asks before it sends a command."""
    study = make_study(f"scenes-{way}", conditions=1, shown=way, asks_first=True)
    study.conditions.update(coplayer="planner", teammates=2)
    return study


def meeting() -> Study:
    """Create a study that two people play together."""
    study = make_study("scenes-lobby", conditions=1)
    study.conditions.update(
        coplayer="planner", teammates=2, organisation={"people": [0, 1]}, lobby_practice=True
    )
    return study


def around() -> Study:
    """Create a study that shows everything before and after a round that a condition can show."""
    study = make_study("scenes-around", conditions=1)
    study.conditions.update(
        coplayer="planner", teammates=2, ready_card=True, end_card=True, rating_replay=True
    )
    return study


def resting() -> Participant:
    """Create a person on a break between sessions, in a study of its own."""
    made = make_study("scenes-break", conditions=1)
    OwnPage.objects.create(
        study=made,
        key="night",
        before="rounds",
        title="See you tomorrow",
        not_before_hours=24,
        not_after_hours=48,
        session_code="S1",
    )
    person = on_page(made, "own-night")
    Participant.objects.filter(pk=person.pk).update(synthetic=False)
    return person


def entered(study: Study) -> Participant:
    """Create a participant on the first page."""
    entry = f"{study.slug}-{study.participants.count()}"
    return participant_enter(study_id=study.pk, entry=entry, synthetic=True)


def on_page(study: Study, page: str) -> Participant:
    """Create a participant who is now on this page. With teammates, earlier episodes are ended without
    play."""
    person = entered(study)
    while (place := next_page.current_page(person)).page != page:
        _go_on(person, place)
        person = Participant.objects.get(pk=person.pk)
    return person


def _go_on(person: Participant, place: next_page.CurrentPage) -> None:
    if place.page == "consent":
        consent_given(participant_id=person.pk)
    elif place.page in {"practice", "play"}:
        episode = person.practice if place.page == "practice" else place.round and place.round.episode
        assert episode
        type(episode).objects.filter(pk=episode.pk).update(status="over")
        finish_page(participant_id=person.pk, page=place.page)
    elif place.page == "check":
        values = {item.key: item.correct for item in person.version.blueprint.items_at("check")}
        check_submit(participant_id=person.pk, values=values, attempt=1)
    elif place.page in {"about", "survey", "final"}:
        values = {item.key: answer(item) for item in person.version.blueprint.items_at(place.page)}
        answers_submit(participant_id=person.pk, page=place.page, values=values, position=place.position)
    else:
        finish_page(participant_id=person.pk, page=place.page)


def answer(item: Any) -> Json:
    """Return a valid answer to an item."""
    return VALUES.get(item.kind, "c0" if item.kind == "team" else 3)
