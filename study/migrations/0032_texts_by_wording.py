"""Translations of a study's texts are kept by what they translate, no longer by where it stands."""

from collections.abc import Iterator
from typing import Any

from django.db import migrations, models


def by_wording(apps: Any, schema_editor: Any) -> None:
    """What stood at a path translated what the study says there now."""
    for study in translated(apps, schema_editor):
        own = dict(texts(study))
        store(study, lambda path, own=own: own.get(path))


def by_path(apps: Any, schema_editor: Any) -> None:
    """The other way round; what stands nowhere now is left out."""
    for study in translated(apps, schema_editor):
        places = {text: path for path, text in texts(study)}
        store(study, places.get)


def translated(apps: Any, schema_editor: Any) -> Any:
    studies = apps.get_model("study", "Study").objects.using(schema_editor.connection.alias)
    return studies.exclude(texts={}).iterator()


def store(study: Any, key_of: Any) -> None:
    study.texts = {
        language: {key: there for old, there in told.items() if (key := key_of(old))}
        for language, told in study.texts.items()
    }
    study.save(update_fields=["texts"])


def texts(study: Any) -> Iterator[tuple[str, str]]:
    """Every text of the study that is not empty, by its path."""
    yield "title", study.title
    for part in study.parts.all():
        at = f"parts.{part.kind}"
        yield from worded(at, part, "title", "text")
        yield from numbered(f"{at}.statements", part.settings.get("statements", ()))
    for condition in study.conditions.all():
        yield from worded(f"conditions.{condition.key}", condition, "label")
    for item in study.items.all():
        yield from worded(f"items.{item.key}", item, "text", "low", "high")
        yield from numbered(f"items.{item.key}.options", item.options)
    for outcome in study.outcomes.all():
        yield from worded(f"outcomes.{outcome.kind}", outcome, "text")


def worded(path: str, row: Any, *names: str) -> Iterator[tuple[str, str]]:
    yield from ((f"{path}.{name}", text) for name in names if (text := getattr(row, name)))


def numbered(path: str, told: Any) -> Iterator[tuple[str, str]]:
    yield from ((f"{path}.{number}", text) for number, text in enumerate(told, start=1))


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0031_prolific_workspace"),
    ]

    operations = [
        migrations.AlterField(
            model_name="study",
            name="texts",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                editable=False,
                help_text="What you wrote, in the other languages: by language and text.",
            ),
        ),
        migrations.RunPython(by_wording, by_path, elidable=True),
    ]
