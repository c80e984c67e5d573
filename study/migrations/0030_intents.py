"""A condition may show what teammates are about to do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0029_three_dimensions"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="shows_intents",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A line beside each teammate that has told its plan: the planner always, a language model where it replies with a structured list. Others show nothing.",
                verbose_name="show what teammates are about to do",
            ),
        ),
    ]
