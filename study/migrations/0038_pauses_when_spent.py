"""A study may take nobody new when its budget is spent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0037_offers_plans"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="pauses_when_spent",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Nobody new is let in from then on, until you raise the budget; whoever is in finishes, "
                "with the fallback where no model can be asked any more.",
                verbose_name="take nobody new when the budget is spent",
            ),
        ),
    ]
