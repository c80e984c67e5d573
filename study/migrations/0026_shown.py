"""How a world is shown. A study that people have entered, or that was preregistered, keeps what it had: tables;
others get what a new one has."""

from typing import Any

from django.db import migrations, models
from django.db.models import Q

CHOICES = [
    ("both", "both: the drawing, and the tables one click away"),
    ("drawn", "drawn: as a picture, without the tables"),
    ("tables", "tables: without the picture"),
]


def keep_tables(apps: Any, editor: Any) -> None:
    """Whom people have met, whoever of them left since; previews of staff and programs do not count."""
    entered = apps.get_model("study", "Participant").objects.filter(preview=False, synthetic=False)
    frozen = apps.get_model("study", "Version").objects.exclude(frozen_at=None)
    met = Q(withdrawn__gt=0) | Q(pk__in=entered.values("study")) | Q(pk__in=frozen.values("study"))
    apps.get_model("study", "Study").objects.filter(met).update(shown="tables")


class Migration(migrations.Migration):
    """Columns that the version before leaves as they are."""

    dependencies = [("study", "0025_first_practice")]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="shown",
            field=models.CharField(
                blank=True,
                choices=CHOICES,
                db_default="",
                default="",
                help_text="Empty: as in the study.",
                max_length=10,
                verbose_name="how the world is shown",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="asks_first",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Otherwise one click on a place or an action sends it.",
                verbose_name="ask before an action is sent",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="shown",
            field=models.CharField(
                choices=CHOICES,
                db_default="both",
                default="both",
                help_text="A world that has no drawing is shown in tables. A condition can have it otherwise.",
                max_length=10,
                verbose_name="how the world is shown",
            ),
        ),
        migrations.RunPython(keep_tables, migrations.RunPython.noop),
    ]
