"""What an episode has come to is sealed when it ends. Those that are there already are sealed as they are: as
episodes of before, whose steps may be without a chain.

Every table of the log gets its triggers anew: SQLite's REPLACE goes by those that there were.
"""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers
from kitchen.infra.hmac_seals import column_values, make_seal

LOG = {
    "kitchen_seatcommand": (
        "id episode_id step seat command chosen_by fallback received_at",
        [["episode_id", "step", "seat"]],
    ),
    "kitchen_decision": (
        "id mind_id step memory note played_by fallback error milliseconds decided_at",
        [["mind_id", "step"]],
    ),
    "kitchen_modelcall": (
        "id decision_id number provider model_asked model_named sampling reply reply_call stop error error_text "
        "attempts seconds tokens_input tokens_output tokens_cache_read tokens_cache_write cost",
        [["decision_id", "number"]],
    ),
    "kitchen_callmessage": ("id call_id position role prompt_id", [["call_id", "position"]]),
    "kitchen_step": (
        "id episode_id number commands events state_hash score opened_at taken_at chain",
        [["episode_id", "number"]],
    ),
}
SEALS = {"kitchen_seal": ("id episode_id kind facts mac", [["episode_id", "kind"]])}
SEALED = "status step state_hash score ended_at"
PIECE = 500


def guard_all(apps, schema_editor):
    for table, (names, unique) in LOG.items():
        remove_guard_triggers(schema_editor, table)
        add_guard_triggers(schema_editor, table, names.split(), unique=unique)
    for table, (names, unique) in SEALS.items():
        add_guard_triggers(schema_editor, table, names.split(), unique=unique)


def unguard_all(apps, schema_editor):
    for table in SEALS:
        remove_guard_triggers(schema_editor, table)
    for table, (names, _) in LOG.items():
        remove_guard_triggers(schema_editor, table)
        add_guard_triggers(schema_editor, table, names.split())


def seal_those_of_before(apps, schema_editor):
    seals = apps.get_model("kitchen", "Seal")
    rows = apps.get_model("kitchen", "Episode").objects.only("key", *SEALED.split()).order_by("pk")
    for first in range(0, rows.count(), PIECE):
        seals.objects.bulk_create(seals(**_sealed(row)) for row in rows[first : first + PIECE])


def _sealed(episode):
    names = SEALED.split()
    facts = dict(zip(names, column_values(episode, names), strict=True))
    mac = make_seal("episode", ["before", episode.key.hex, facts])
    return {"episode": episode, "kind": "before", "facts": facts, "mac": mac}


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0012_signs_and_outages")]
    operations = [
        migrations.CreateModel(
            name="Seal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("before", "was there before there were seals"),
                            ("end", "came to its end"),
                        ],
                        max_length=6,
                    ),
                ),
                ("facts", models.JSONField(help_text="What is sealed, by name.")),
                (
                    "mac",
                    models.CharField(
                        help_text="HMAC-SHA-256 of kind, the episode's key and facts.", max_length=64
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=models.deletion.CASCADE, related_name="seals", to="kitchen.episode"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("episode", "kind"), name="one_seal_of_a_kind")
                ],
            },
        ),
        migrations.RunPython(seal_those_of_before, migrations.RunPython.noop),
        migrations.RunPython(guard_all, unguard_all),
    ]
