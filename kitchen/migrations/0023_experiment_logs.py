"""The logs of episodes of experiments: pieces that are only added; and what was spent before they came here."""

import django.db.models.deletion
from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE = "kitchen_experimentlog"
COLUMNS = ["id", "episode_id", "run", "number", "data"]
UNIQUE = [["episode_id", "run", "number"]]


def guard_it(apps, schema_editor):
    add_guard_triggers(schema_editor, TABLE, COLUMNS, unique=UNIQUE)


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0022_messages")]

    operations = [
        migrations.AddField(
            model_name="experiment",
            name="spent_elsewhere",
            field=models.DecimalField(
                db_default=0,
                decimal_places=6,
                default=0,
                editable=False,
                help_text="US dollars that calls of what was played elsewhere (`--local`) had cost.",
                max_digits=12,
            ),
        ),
        migrations.CreateModel(
            name="ExperimentLog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "run",
                    models.PositiveSmallIntegerField(help_text="1; more where it could not be gone on with."),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the run's first piece.")),
                ("data", models.BinaryField(help_text="JSON lines, gzipped.")),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="logs",
                        to="kitchen.experimentepisode",
                    ),
                ),
            ],
            options={
                "ordering": ["run", "number"],
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("episode", "run", "number"), name="one_piece_of_a_log_per_number"
                    )
                ],
            },
        ),
        migrations.RunPython(guard_it, unguard_it),
    ]
