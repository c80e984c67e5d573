"""An episode may end as soon as its goal is reached."""

from django.db import migrations, models

STATUS = [
    ("playing", "playing"),
    ("over", "over"),
    ("cut_off", "cut off"),
    ("reached", "its goal was reached"),
    ("aborted", "ended by staff"),
    ("abandoned", "ended because somebody was gone"),
]


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0013_seals")]
    operations = [
        migrations.AddField(
            "episode",
            "until",
            models.JSONField(
                blank=True,
                null=True,
                help_text="Figures and what each is to reach: then it is over. Empty: it lasts as long as its "
                "world says.",
            ),
        ),
        migrations.AlterField(
            "episode", "status", models.CharField(choices=STATUS, default="playing", max_length=10)
        ),
    ]
