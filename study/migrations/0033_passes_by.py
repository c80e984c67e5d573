"""A condition may go on without who has nothing to choose."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0032_texts_by_wording"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="passes_by",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Who has nothing to choose in a step is not asked, person or teammate: it goes on without them. Off: everybody chooses in every step, if only to wait.",
                verbose_name="go on without who is busy",
            ),
        ),
    ]
