"""Let a rule leave out the survey after a round."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("study", "0087_questions_on_own_pages")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="survey_show_if",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                editable=False,
                help_text="The rule that decides who answers the survey after a round. Empty: everybody.",
            ),
        ),
    ]
