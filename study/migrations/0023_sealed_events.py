"""Security events are numbered and sealed, what staff did is sealed; those that are there, as they are.

The columns come with their defaults in the database: programs of the version before go on writing meanwhile.
"""

import django.utils.timezone
from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers
from kitchen.infra.hmac_seals import column_values, make_seal

EVENTS, ACTIONS, USER = "study_securityevent", "study_staffaction", "user_id"
OF_EVENTS = "id at kind user_name study what address"
OF_ACTIONS = "id study_id participant_id user_name action reason at"
SEALED_EVENTS = "number at kind user_name study what address"
SEALED_ACTIONS = "study_id participant_id user_name action reason at"
SEAL = {"default": "", "db_default": "", "help_text": "HMAC-SHA-256 of the row.", "max_length": 64}
KINDS = [
    ("login", "logged in"),
    ("login_failed", "login failed"),
    ("logout", "logged out"),
    ("token_made", "token made"),
    ("token_revoked", "token revoked"),
    ("data_downloaded", "data downloaded"),
    ("study_opened", "study opened"),
    ("study_closed", "study closed"),
    ("person_erased", "person erased"),
    ("factor_set_up", "second factor set up"),
    ("factor_removed", "second factor removed"),
    ("codes_made", "recovery codes made"),
    ("password_changed", "password changed"),
    ("user_made", "user made"),
    ("user_deleted", "user deleted"),
    ("rights_changed", "rights of a user changed"),
    ("role_given", "role in a study given"),
    ("role_taken", "role in a study taken away"),
]


def let_change(apps, schema_editor):
    remove_guard_triggers(schema_editor, EVENTS)
    remove_guard_triggers(schema_editor, ACTIONS, USER)


def guard_again(apps, schema_editor):
    add_guard_triggers(schema_editor, EVENTS, f"{OF_EVENTS} number seal".split())
    add_guard_triggers(schema_editor, ACTIONS, f"{OF_ACTIONS} seal".split(), USER)


def guard_as_before(apps, schema_editor):
    add_guard_triggers(schema_editor, EVENTS, OF_EVENTS.split())
    add_guard_triggers(schema_editor, ACTIONS, OF_ACTIONS.split(), USER)


def seal_what_is_there(apps, schema_editor):
    last = 0
    for last, event in enumerate(apps.get_model("study", "SecurityEvent").objects.order_by("pk"), start=1):
        event.number = last
        event.seal = make_seal("security event", column_values(event, SEALED_EVENTS.split()))
        event.save(update_fields=["number", "seal"])
    for action in apps.get_model("study", "StaffAction").objects.order_by("pk"):
        action.seal = make_seal("staff action", column_values(action, SEALED_ACTIONS.split()))
        action.save(update_fields=["seal"])
    if last:
        count = {"pk": 1, "last": last, "erased": 0, "seal": make_seal("security events", [last, 0])}
        apps.get_model("study", "SecurityCount").objects.create(**count)


def column(table, name, kind):
    added = f"ALTER TABLE {table} ADD COLUMN {name} {kind}"
    return migrations.RunSQL(added, f"ALTER TABLE {table} DROP COLUMN {name}")


class Migration(migrations.Migration):
    dependencies = [("study", "0022_recovery_codes_hashed")]
    operations = [
        migrations.CreateModel(
            name="SecurityCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("last", models.PositiveBigIntegerField(help_text="The number of the last event.")),
                (
                    "erased",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="Up to this number the app has erased events itself, because they were old.",
                    ),
                ),
                ("seal", models.CharField(help_text="HMAC-SHA-256 of both.", max_length=64)),
            ],
        ),
        migrations.RunPython(let_change, guard_as_before),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                column(EVENTS, "number", "bigint NOT NULL DEFAULT 0"),
                column(EVENTS, "seal", "varchar(64) NOT NULL DEFAULT ''"),
                column(ACTIONS, "seal", "varchar(64) NOT NULL DEFAULT ''"),
            ],
            state_operations=[
                migrations.AddField(
                    "securityevent",
                    "number",
                    models.PositiveBigIntegerField(
                        default=0, db_default=0, help_text="From 1 on, without a gap."
                    ),
                ),
                migrations.AddField("securityevent", "seal", models.CharField(**SEAL)),
                migrations.AddField("staffaction", "seal", models.CharField(**SEAL)),
                migrations.AlterField(
                    "securityevent", "kind", models.CharField(choices=KINDS, max_length=16)
                ),
                migrations.AlterField(
                    "securityevent",
                    "at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                migrations.AlterField(
                    "staffaction",
                    "at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
        ),
        migrations.RunPython(seal_what_is_there, migrations.RunPython.noop),
        migrations.RunPython(guard_again, let_change),
    ]
