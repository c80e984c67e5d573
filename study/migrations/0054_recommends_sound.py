from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0053_guard_answers_and_deletes"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="recommends_sound",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The page offers once to switch sound on. Without this, sound is off until somebody presses its button. The data show who had it on.",
                verbose_name="recommend sound",
            ),
        ),
    ]
