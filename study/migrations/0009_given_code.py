"""What participants were given at the end is kept with them: the outcome's code can change later."""

from django.db import migrations, models

import study.models


def fill(apps, schema_editor):
    """Those who have ended were given what their page says now."""
    people = apps.get_model("study", "Participant").objects
    for outcome in apps.get_model("study", "Outcome").objects.exclude(code=""):
        people.filter(study=outcome.study_id, status=outcome.kind).update(given_code=outcome.code)
    people.filter(status="complete", given_code="").update(given_code=models.F("completion_code"))


class Migration(migrations.Migration):
    dependencies = [("study", "0008_api_tokens")]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="given_code",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="What the person was given at the end to hand in, whatever the outcome's code is now.",
                max_length=80,
                verbose_name="completion code",
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="completion_code",
            field=models.CharField(
                default=study.models.new_completion_code,
                help_text="Given to those who are complete where the outcome has no code.",
                max_length=16,
                verbose_name="own code",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
