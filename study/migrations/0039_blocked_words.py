"""Words of a study that are not shown in messages; what a study that waits for money means, in words."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0038_pauses_when_spent"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="blocked_words",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="In what people and co-players write to one another, *** stands for each of these "
                "words or phrases. One on each line; small or capital letters are the same. The data have what "
                "was written.",
                max_length=4000,
                verbose_name="words that are not shown",
            ),
        ),
        migrations.AlterField(
            model_name="study",
            name="pauses_when_spent",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Nobody new is let in from then on, until you raise the budget. Who is in finishes their "
                "round, with the fallback where no model can be asked any more; their next one that would ask a "
                "model waits, and its page says so.",
                verbose_name="take nobody new when the budget is spent",
            ),
        ),
    ]
