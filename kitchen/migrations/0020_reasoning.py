"""What a model thought, and all that was sent to it.

The columns come without a copy of the table: programs of the version before go on writing beside them.
"""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

CALLS = "kitchen_modelcall"
BEFORE = [
    "id",
    "decision_id",
    "number",
    "provider",
    "model_asked",
    "model_named",
    "sampling",
    "reply",
    "reply_call",
    "stop",
    "error",
    "error_text",
    "attempts",
    "seconds",
    "tokens_input",
    "tokens_output",
    "tokens_cache_read",
    "tokens_cache_write",
    "cost",
]
UNIQUE = [["decision_id", "number"]]


def guard_new(apps, schema_editor):
    remove_guard_triggers(schema_editor, CALLS)
    add_guard_triggers(schema_editor, CALLS, [*BEFORE, "parameters", "reasoning"], unique=UNIQUE)


def guard_old(apps, schema_editor):
    remove_guard_triggers(schema_editor, CALLS)
    add_guard_triggers(schema_editor, CALLS, BEFORE, unique=UNIQUE)


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0019_passes_by")]
    operations = [
        migrations.AddField(
            "modelcall",
            "parameters",
            models.JSONField(
                null=True,
                help_text="All that was sent beside the texts of messages and tool, as the API calls it; empty in "
                "calls of before it was kept.",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE kitchen_modelcall ADD COLUMN reasoning text NOT NULL DEFAULT ''",
                    "ALTER TABLE kitchen_modelcall DROP COLUMN reasoning",
                )
            ],
            state_operations=[
                migrations.AddField(
                    "modelcall",
                    "reasoning",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What the model thought before it answered, as far as its API gives it.",
                    ),
                )
            ],
        ),
        migrations.AlterField(
            "modelcall",
            "attempts",
            models.JSONField(
                help_text="Every try: outcome, seconds, seconds waited after it, cost; begin and end, seconds "
                "that it had, and the server's id of the request."
            ),
        ),
        migrations.RunPython(guard_new, guard_old),
    ]
