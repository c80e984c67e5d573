"""What a mind decided last is found without reading all that it decided."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0025_offers_plans"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["mind", "step"], name="decisions_by_step"),
        ),
    ]
