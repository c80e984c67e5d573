"""The database refuses to change what staff did; who did it is forgotten when that user is deleted."""

from django.db import migrations

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE, COLUMNS, USER = "study_staffaction", "id study_id participant_id user_name action reason at", "user_id"


def guard_it(apps, schema_editor):
    add_guard_triggers(schema_editor, TABLE, COLUMNS.split(), USER)


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE, USER)


class Migration(migrations.Migration):
    dependencies = [("study", "0018_security_events")]
    operations = [migrations.RunPython(guard_it, unguard_it)]
