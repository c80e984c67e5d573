from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0027_absence")]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="acts",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="It is one of the world's; no: somebody who only leads.",
            ),
        ),
    ]
