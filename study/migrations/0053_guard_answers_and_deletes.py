"""Let the database refuse changes of answers, and deletes in append-only tables, except on connections that
erase on purpose."""

from django.db import migrations

from kitchen.infra.append_only import add_guard_triggers


def add_guards(apps, schema_editor):
    for name in ("StaffAction", "SecurityEvent"):
        add_guard_triggers(schema_editor, apps.get_model("study", name))
    add_guard_triggers(schema_editor, apps.get_model("study", "Answer"), erasable=["value"])


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0052_talk_language"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="answer",
            options={"base_manager_name": "objects", "ordering": ["item__position", "id"]},
        ),
        migrations.RunPython(add_guards, migrations.RunPython.noop),
    ]
