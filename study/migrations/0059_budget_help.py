from django.core.validators import MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0058_hides_dots_and_shared_warm_up"),
    ]

    operations = [
        migrations.AlterField(
            model_name="study",
            name="budget_limit",
            field=models.DecimalField(
                decimal_places=2,
                default=10,
                help_text="The most that language models may cost in this study, in US dollars. The money for "
                "an episode is set aside before it begins. While the rest does not suffice, rounds with a paid "
                "model wait.",
                max_digits=9,
                validators=[MinValueValidator(0)],
                verbose_name="budget",
            ),
        ),
        migrations.AlterField(
            model_name="study",
            name="pauses_when_spent",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="When the budget is spent, nobody new can enter until you raise it. Without this "
                "setting, they enter, and wait before their first round with a paid model.",
                verbose_name="take nobody new when the budget is spent",
            ),
        ),
    ]
