"""Steps get a chain, and the database refuses to change the log.

The column comes with its default in the database, without a copy of the table: programs of the version before
go on writing steps while it is added. Their rows, and all older ones, stay as they are and have no chain.
"""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

LOG = {
    "kitchen_seatcommand": "id episode_id step seat command chosen_by fallback received_at",
    "kitchen_decision": "id mind_id step memory note played_by fallback error milliseconds decided_at",
    "kitchen_modelcall": "id decision_id number provider model_asked model_named sampling reply reply_call stop "
    "error error_text attempts seconds tokens_input tokens_output tokens_cache_read tokens_cache_write cost",
    "kitchen_callmessage": "id call_id position role prompt_id",
    "kitchen_step": "id episode_id number commands events state_hash score opened_at taken_at chain",
}


def guard_all(apps, schema_editor):
    for table, columns in LOG.items():
        add_guard_triggers(schema_editor, table, columns.split())


def unguard_all(apps, schema_editor):
    for table in LOG:
        remove_guard_triggers(schema_editor, table)


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0010_steps_in_place")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE kitchen_step ADD COLUMN chain varchar(64) NOT NULL DEFAULT ''",
                    "ALTER TABLE kitchen_step DROP COLUMN chain",
                )
            ],
            state_operations=[
                migrations.AddField(
                    "step",
                    "chain",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="SHA-256 of the chain before it and of this row; empty in logs of before.",
                        max_length=64,
                    ),
                )
            ],
        ),
        migrations.RunPython(guard_all, unguard_all),
    ]
