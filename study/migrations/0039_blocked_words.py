"""Words of a study that are not shown in messages."""

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
    ]
