"""Those who play together, and the end of whoever found nobody to play with."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0039_blocked_words"),
    ]

    operations = [
        migrations.AlterField(
            model_name="outcome",
            name="kind",
            field=models.CharField(
                choices=[
                    ("complete", "complete"),
                    ("no_consent", "no consent"),
                    ("failed_check", "failed the check of understanding"),
                    ("timed_out", "timed out"),
                    ("technical", "ended for a technical reason"),
                    ("unmatched", "nobody to play with"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="status",
            field=models.CharField(
                choices=[
                    ("active", "taking part"),
                    ("complete", "complete"),
                    ("no_consent", "did not agree"),
                    ("failed_check", "failed the check of understanding"),
                    ("timed_out", "timed out"),
                    ("technical", "ended for a technical reason"),
                    ("unmatched", "nobody to play with"),
                ],
                default="active",
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the first of the study.")),
                ("size", models.PositiveSmallIntegerField(help_text="People that there are seats for.")),
                (
                    "order",
                    models.JSONField(help_text="Keys of the conditions that its members play from there on."),
                ),
                (
                    "sequence",
                    models.PositiveIntegerField(
                        blank=True, help_text="As `Participant.sequence`.", null=True
                    ),
                ),
                ("synthetic", models.BooleanField(default=False)),
                ("preview", models.BooleanField(default=False)),
                (
                    "language",
                    models.CharField(default="en", help_text="In which all of them read.", max_length=16),
                ),
                (
                    "formed_at",
                    models.DateTimeField(blank=True, help_text="When it began to play.", null=True),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="study.study"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="study.version"
                    ),
                ),
            ],
            options={
                "ordering": ["study", "number"],
            },
        ),
        migrations.CreateModel(
            name="GroupMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "place",
                    models.PositiveSmallIntegerField(
                        help_text="0 for the first: which of the people's seats is theirs."
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Of the round that they wait for; 0: none."
                    ),
                ),
                (
                    "came_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When they came to that lobby."
                    ),
                ),
                (
                    "seen_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="When their page was last heard of there.",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="study.group"
                    ),
                ),
                (
                    "participant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="membership",
                        to="study.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["place"],
            },
        ),
        migrations.AddConstraint(
            model_name="group",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="one_group_per_number"),
        ),
        migrations.AddConstraint(
            model_name="groupmember",
            constraint=models.UniqueConstraint(fields=("group", "place"), name="one_member_per_place"),
        ),
    ]
