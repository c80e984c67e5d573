"""The database refuses to change what matters to security."""

from django.db import migrations

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE, COLUMNS = "study_securityevent", "id at kind user_name study what address"


def guard_it(apps, schema_editor):
    add_guard_triggers(schema_editor, TABLE, COLUMNS.split())


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [("study", "0020_entry_limits")]
    operations = [migrations.RunPython(guard_it, unguard_it)]
