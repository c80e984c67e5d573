"""Whether steps of an episode go on without seats that have nothing to choose."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0018_views"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="passes_by",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Seats that have nothing to choose are not waited for.",
            ),
        ),
        migrations.AlterField(
            model_name="seatcommand",
            name="chosen_by",
            field=models.CharField(
                help_text="`person`, `timeout`, `outage`, `world`, or the kind of co-player that chose.",
                max_length=40,
            ),
        ),
    ]
