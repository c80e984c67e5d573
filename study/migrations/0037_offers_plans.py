"""A condition may let participants plan ahead."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0036_decision_seconds"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="offers_plans",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A list on the page in which they choose what is to follow, step by step. It is done by itself as long as it is possible; else they are asked again.",
                verbose_name="let participants plan ahead",
            ),
        ),
    ]
