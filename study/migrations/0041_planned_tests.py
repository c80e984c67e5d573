"""What a study plans to test: the main test, a correction over measures, contrasts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0040_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="main_test",
            field=models.CharField(
                choices=[
                    (
                        "repeated",
                        "Repeated-measures ANOVA (corrected after Greenhouse and Geisser, or Huynh and Feldt)",
                    ),
                    ("mixed", "Linear mixed model (condition, order position, carry-over)"),
                    ("friedman", "Friedman's test (ranks)"),
                    ("one_way", "One-way ANOVA (the replication: rows as if independent)"),
                ],
                db_default="repeated",
                default="repeated",
                help_text="The analysis shows the others as well, as exploratory.",
                max_length=20,
                verbose_name="test that decides whether conditions differ",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="measures_correction",
            field=models.CharField(
                choices=[
                    ("none", "no correction over measures"),
                    ("holm", "Holm over measures"),
                    ("fdr", "Benjamini and Hochberg over measures (false discovery rate)"),
                ],
                db_default="none",
                default="none",
                help_text="Of the main tests of all measures together.",
                max_length=20,
                verbose_name="correction over measures",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="planned_contrasts",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="One on each line: a name, a colon, and conditions by key with weights that add up to 0, for example “H1: alone -1, two 1/2, three 1/2”. Tested in every measure, corrected after Holm.",
                max_length=4000,
            ),
        ),
    ]
