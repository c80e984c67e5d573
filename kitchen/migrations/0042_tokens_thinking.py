from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers


def add_guards(apps, schema_editor):
    add_guard_triggers(schema_editor, apps.get_model("kitchen", "ModelCall"))


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0041_episode_allowance"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelcall",
            name="tokens_thinking",
            field=models.PositiveIntegerField(
                help_text="The part of the written tokens in which the model thought; empty in calls of earlier "
                "versions.",
                null=True,
            ),
        ),
        migrations.RunPython(add_guards, migrations.RunPython.noop),
    ]
