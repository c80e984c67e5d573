"""Create small stored studies for tests."""

from __future__ import annotations

from typing import Any

from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Condition, Study, StudyPart, SurveyItem
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import answers_submit, finish_page

SETTINGS = {"level": "level_0", "alpha": 2.0, "beta": 2.5, "max_steps": 3}


def make_study(
    slug: str = "small", *, conditions: int = 2, items: int = 2, steps: int = 3, **more: Any
) -> Study:
    """Create a study whose participants play alone for `steps` steps in each condition."""
    study = Study.objects.create(slug=slug, title="A small study", seed=11, **more)
    StudyPart.objects.create(study=study, kind="consent", text="I agree.")
    StudyPart.objects.create(study=study, kind="end", text="Thank you.")
    for number in range(conditions):
        Condition.objects.create(
            study=study,
            key=f"c{number}",
            name=f"Condition {number}",
            label=f"Team {number}",
            position=number,
            settings={**SETTINGS, "alpha": 1.0 + number, "max_steps": steps},
        )
    for number in range(items):
        SurveyItem.objects.create(
            study=study,
            key=f"i{number}",
            measure=f"Measure {number}",
            text=f"Item {number}.",
            position=number,
        )
    return study


def make_shared_study(
    slug: str = "small",
    *,
    conditions: int = 2,
    people: int = 2,
    step_seconds: float | None = None,
    **team: Any,
) -> Study:
    """Create a study in which this many people play with one planner in each condition."""
    study = make_study(slug, conditions=conditions)
    organisation = {"kind": "central", "people": list(range(people)), **team}
    more = {"teammates": people, "coplayer": "planner", "organisation": organisation}
    study.conditions.update(**more, step_seconds=step_seconds)
    return study


def add_factor(study: Study) -> None:
    """Give a study the factor `steps` with the levels `few` and `many`, which its two conditions have."""
    levels = [
        {"key": key, "name": key.title(), "sets": {"settings.alpha": 1.0 + number}}
        for number, key in enumerate(("few", "many"))
    ]
    study.factors = [{"key": "steps", "name": "Steps", "between": False, "levels": levels}]
    study.save(update_fields=["factors"])
    for condition, level in zip(study.conditions.all(), levels, strict=True):
        condition.levels = {"steps": level["key"]}
        condition.save(update_fields=["levels"])


def enter(study: Study, entry: str = "one", *, synthetic: bool = False) -> Participant:
    """Create a participant who has consented."""
    person = participant_enter(study_id=study.pk, entry=entry, synthetic=synthetic)
    consent_given(participant_id=person.pk)
    person.refresh_from_db()
    return person


def play_out(episode: Episode) -> None:
    """Play the person's seat to the end, always with the first legal action. Agents are not asked."""
    seat = episode.seats.get(number=0)
    while (view := current_seat_view(seat)).phase == "choose":
        order = SubmittedCommand(0, view.choice.legal[0])
        submit_commands(episode_id=episode.pk, step=view.step + 1, commands=[order])


def play_round(participant: Participant, value: int = 3) -> None:
    """Play the present round and answer its survey."""
    found = participant.rounds.filter(answered_at=None).select_related("episode").first()
    assert found and found.episode
    play_out(found.episode)
    values = {item.key: value for item in participant.version.blueprint.items_at("survey")}
    assert answers_submit(
        participant_id=participant.pk, page="survey", position=found.position, values=values
    )


def complete(study: Study, entry: str = "one", *, synthetic: bool = False, value: int = 3) -> Participant:
    """Create a participant who has completed the study."""
    participant = enter(study, entry, synthetic=synthetic)
    finish_page(participant_id=participant.pk, page="guide")
    for _ in range(participant.rounds.count()):
        play_round(participant, value)
    participant.refresh_from_db()
    return participant
