"""Read what the rules and texts of a study's own pages may use about a participant.

These are the participant's answers, the metrics of the last round, the group, and the condition. Nothing
identifies the person.
"""

from __future__ import annotations

from kitchen.registry.world_metrics import metrics_of_world
from study.design.blueprint import Blueprint
from study.design.own_pages import ParticipantFacts
from study.participants.next_page import ParticipantProgress


def participant_facts(progress: ParticipantProgress, design: Blueprint | None = None) -> ParticipantFacts:
    """Return the facts about this participant as they are now. `design` is the design in the participant's
    language, for the team's name; by default it is the original one."""
    person = progress.participant
    given = person.answers.order_by("answered_at", "pk").values_list("item__key", "value")
    answers = dict(given)
    played = next((one for one in reversed(progress.rounds) if one.episode_id), None)
    if played is None or played.episode is None:
        return ParticipantFacts(answers=answers, group=person.between_group)
    key, score = played.condition.key, played.episode.score or {}
    labels = {plan.key: plan.label for plan in (design or person.version.blueprint).conditions}
    metrics = metrics_of_world(played.episode.world)
    known = [(one, score[one.name]) for one in metrics if score.get(one.name) is not None]
    return ParticipantFacts(
        answers=answers,
        figures={one.name: value for one, value in known},
        figure_words={one.name: one.shown(value) for one, value in known},
        group=person.between_group,
        condition=key,
        team=labels.get(key, played.episode.label),
    )
