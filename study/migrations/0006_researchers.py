"""Roles of researchers in a study. Nobody loses what the admin's rights allowed until now."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def give_roles(apps, schema_editor):
    """Staff who might change studies become collaborators of those there are, who might see them viewers; the
    demo study is for everybody to copy."""
    study = apps.get_model("study", "Study")
    membership = apps.get_model("study", "Membership")
    user = apps.get_model(settings.AUTH_USER_MODEL)
    study.objects.filter(slug="demo").update(shared=True)
    for codename, role in (("change_study", "collaborator"), ("view_study", "viewer")):
        rights = {"content_type__app_label": "study", "codename": codename}
        own = {f"user_permissions__{name}": value for name, value in rights.items()}
        of_group = {f"groups__permissions__{name}": value for name, value in rights.items()}
        people = user.objects.filter(
            models.Q(**own) | models.Q(**of_group), is_staff=True, is_superuser=False
        )
        for person in people.distinct():
            for found in study.objects.all():
                membership.objects.get_or_create(study=found, user=person, defaults={"role": role})


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0005_study_in_full_settled"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="shared",
            field=models.BooleanField(
                default=False,
                help_text="Every researcher here may look at the design and make a copy of it; not at participants.",
                verbose_name="shown to all researchers",
            ),
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner: everything; members, freezing and deleting, too"),
                            ("collaborator", "collaborator: design, participants, data"),
                            ("viewer", "viewer: looks, changes nothing"),
                        ],
                        default="collaborator",
                        max_length=12,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="study.study",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("study", "user"), name="one_role_per_member")
                ],
            },
        ),
        migrations.RunPython(give_roles, migrations.RunPython.noop),
    ]
