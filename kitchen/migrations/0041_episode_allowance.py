import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0040_hides_dots"),
    ]

    operations = [
        migrations.AlterField(
            model_name="episode",
            name="status",
            field=models.CharField(
                choices=[
                    ("playing", "playing"),
                    ("over", "over"),
                    ("cut_off", "cut off"),
                    ("reached", "its goal was reached"),
                    ("aborted", "ended by staff, or for lack of money"),
                    ("abandoned", "ended because somebody was gone"),
                ],
                default="playing",
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="EpisodeAllowance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=6, max_digits=12)),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="allowances",
                        to="kitchen.budget",
                    ),
                ),
                (
                    "episode",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="allowance",
                        to="kitchen.episode",
                    ),
                ),
            ],
        ),
    ]
