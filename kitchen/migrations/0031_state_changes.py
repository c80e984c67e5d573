"""Large parts of a state are stored as what each step changes of them."""

import django.db.models.deletion
from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE = "kitchen_statechange"
COLUMNS = "id episode_id step part is_whole changed removed root"


def guard_it(apps, schema_editor):
    add_guard_triggers(schema_editor, TABLE, COLUMNS.split(), unique=[["episode_id", "step", "part"]])


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0030_ticking"),
    ]

    operations = [
        migrations.CreateModel(
            name="StateChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("step", models.PositiveIntegerField(help_text="The step that changed it; 0: it began so.")),
                ("part", models.CharField(help_text="The key of the part in the state.", max_length=40)),
                (
                    "is_whole",
                    models.BooleanField(help_text="`changed` has all entries, not only those that changed."),
                ),
                ("changed", models.TextField(help_text="New entries and new values: a JSON object.")),
                ("removed", models.TextField(help_text="Keys that are gone: a JSON list.")),
                ("root", models.CharField(help_text="Hash of the part after the step.", max_length=64)),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="state_changes",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["step"],
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("episode", "step", "part"), name="one_change_per_step_and_part"
                    )
                ],
            },
        ),
        migrations.RunPython(guard_it, unguard_it),
    ]
