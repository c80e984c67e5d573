"""Studies of before: their texts become parts, their participants are bound to a version, answers are moved."""

import hashlib
import json

from django.db import migrations

GUIDE = "guide"


def parts(apps, study):
    """Welcome, consent and last page as rows of their own."""
    part = apps.get_model("study", "StudyPart")
    for kind, text in (("welcome", study.welcome), ("consent", study.consent), ("end", study.ending)):
        if text:
            part.objects.create(study=study, kind=kind, text=text)


CONDITION = ("key", "name", "label", "world", "settings", "coplayer", "coplayer_settings", "teammates")
ITEM = ("key", "measure", "text", "points", "low", "high", "required")
STATEMENTS = {"statements": ["I have read this and I agree to take part."]}


def document(study):
    """The study in the form of study.blueprint, as it was."""
    conditions = [{name: getattr(row, name) for name in CONDITION} for row in study.conditions.all()]
    items = [{name: getattr(row, name) for name in ITEM} for row in study.items.all()]
    empty = {
        "place": "survey",
        "kind": "likert",
        "scale": "",
        "reversed": False,
        "options": [],
        "correct": None,
    }
    number = {"minimum": None, "maximum": None, "step": None}
    texts = (
        ("welcome", "", study.welcome, {}),
        ("consent", "Before you take part", study.consent, STATEMENTS),
    )
    more = (("guide", "How to play", "", {}), ("end", "Thank you, that was the last part", study.ending, {}))
    return {
        "format": 1,
        "study": {
            "slug": study.slug,
            "title": study.title,
            "seed": study.seed,
            "orders": "random",
            "same_dishes": False,
            "shuffle_items": False,
            "thinking_seconds": study.thinking_seconds,
            "idle_warning_minutes": None,
            "idle_minutes": None,
            "planned_participants": None,
            "hypotheses": "",
            "exclusions": "",
            "failed_checks_allowed": None,
            "planned_tests": "",
        },
        "conditions": [{**row, "thinking_seconds": None, "step_seconds": None} for row in conditions],
        "parts": [
            {"kind": kind, "enabled": True, "title": title, "text": text, "settings": settings}
            for kind, title, text, settings in (*texts, *more)
        ],
        "items": [{**row, **empty, **number} for row in items],
    }


def bind(apps, study):
    """Everybody who entered is bound to the study as it is now, and was done with what they had left."""
    people = apps.get_model("study", "Participant").objects.filter(study=study)
    if not people.exists():
        return
    found = document(study)
    text = json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    version = apps.get_model("study", "Version").objects.create(
        study=study, number=1, document=found, digest=hashlib.sha256(text.encode()).hexdigest()
    )
    visit = apps.get_model("study", "PageVisit")
    for person in people:
        consented = person.consented_at
        person.version, person.entered_at = version, consented
        person.active_at = person.ended_at or person.guide_read_at or consented
        person.save()
        visit.objects.create(participant=person, page="consent", opened_at=consented, done_at=consented)
        if person.guide_read_at:
            visit.objects.create(
                participant=person, page=GUIDE, opened_at=consented, done_at=person.guide_read_at
            )
    apps.get_model("study", "Study").objects.filter(pk=study.pk).update(orders="random", idle_minutes=None)


def forwards(apps, schema_editor):
    """All of it, study by study."""
    for study in apps.get_model("study", "Study").objects.all():
        parts(apps, study)
        bind(apps, study)
    answers = apps.get_model("study", "Answer").objects.select_related("round")
    for answer in answers.iterator():
        answer.participant_id, answer.given = answer.round.participant_id, answer.value
        answer.save(update_fields=["participant", "given"])


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0003_study_in_full"),
    ]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
