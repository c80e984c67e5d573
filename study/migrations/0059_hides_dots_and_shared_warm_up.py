import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0041_hides_dots"),
        ("study", "0056_warm_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="hides_dots",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Dots mark the actions that advance an order, so they are close to advice. Without them, participants find out themselves what an order needs. Practice then has none, too.",
                verbose_name="hide the dots at useful actions",
            ),
        ),
        migrations.AddField(
            model_name="condition",
            name="lobby_practice_shared",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="People who wait in the same study meet in one kitchen. A program plays each place that nobody has taken. They may be in the same game afterwards.",
                verbose_name="let those who wait share this kitchen",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="warm_up_seat",
            field=models.PositiveSmallIntegerField(
                db_default=0, default=0, help_text="The person's seat in that episode."
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="warm_up",
            field=models.ForeignKey(
                blank=True,
                help_text="The episode that the person played while waiting for others, alone or with other people.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="warmed_up_by",
                to="kitchen.episode",
            ),
        ),
    ]
