"""Let the database refuse deletes in append-only tables, except on connections that erase on purpose."""

from django.db import migrations

from kitchen.infra.append_only import add_guard_triggers

APPEND_ONLY = [
    "SeatCommand",
    "Decision",
    "ModelCall",
    "CallMessage",
    "Step",
    "Outage",
    "Seal",
    "Message",
    "ExperimentLog",
    "StateChange",
]


def add_guards(apps, schema_editor):
    for name in APPEND_ONLY:
        add_guard_triggers(schema_editor, apps.get_model("kitchen", name))


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0036_busy_people_answer"),
    ]

    operations = [migrations.RunPython(add_guards, migrations.RunPython.noop)]
