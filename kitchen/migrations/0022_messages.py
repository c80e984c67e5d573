"""What members of an episode say to one another, and who may say what to whom."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE = "kitchen_message"
COLUMNS = "id episode_id number step sender to kind text data decision_id sent_at"


def guard_it(apps, schema_editor):
    add_guard_triggers(schema_editor, TABLE, COLUMNS.split(), unique=[["episode_id", "number"]])


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0021_minds_apart"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="messages",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="How many were sent so far."
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="organisation",
            field=models.JSONField(
                blank=True,
                help_text="Its members and what they may do with one another; empty: nobody writes to anybody.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="In the episode; the first is 1.")),
                ("step", models.PositiveIntegerField(help_text="The step that was open; the first is 1.")),
                (
                    "sender",
                    models.PositiveSmallIntegerField(help_text="A member; empty for the house.", null=True),
                ),
                ("to", models.JSONField(help_text="Every member to whom it was sent.")),
                ("kind", models.CharField(max_length=10)),
                ("text", models.TextField(blank=True)),
                ("data", models.JSONField(default=dict)),
                ("sent_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "decision",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="said",
                        to="kitchen.decision",
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sent", to="kitchen.episode"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("episode", "number"), name="one_message_per_number")
                ],
            },
        ),
        migrations.RunPython(guard_it, unguard_it),
    ]
