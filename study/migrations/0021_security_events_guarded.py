"""The database refuses to change what matters to security."""

from django.db import migrations

from kitchen.machine.guards import guard, unguard

TABLE, COLUMNS = "study_securityevent", "id at kind user_name study what address"


def guard_it(apps, schema_editor):
    guard(schema_editor, TABLE, COLUMNS.split())


def unguard_it(apps, schema_editor):
    unguard(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [("study", "0020_entry_limits")]
    operations = [migrations.RunPython(guard_it, unguard_it)]
