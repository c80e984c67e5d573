"""Define the database tables of live play: episodes, seats (players' places), agents and logs.

The rows of the log (`Step`, `SeatCommand`, `Decision`, `Message`) can be added but never changed.
`Episode.state` is the current state of the world. `StateChange` holds the large parts of that state.
"""

from __future__ import annotations

import json
import secrets
import uuid

from django.db import models
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY
from kitchen.contract.organisation import Organisation
from kitchen.contract.page_view import DRAWING_TABLES
from kitchen.infra.append_only import AppendOnly
from kitchen.money.models import Budget


def new_key() -> str:
    """Return a new random key: 128 bits, URL-safe. A key gives access to a seat, or to a participant's
    pages."""
    return secrets.token_urlsafe(16)


class Episode(models.Model):
    """One game in one world, from its seed to its end. People or agents play its seats."""

    class Status(models.TextChoices):
        PLAYING = "playing", "playing"
        OVER = "over", "over"
        CUT_OFF = "cut_off", "cut off"
        REACHED = "reached", "its goal was reached"
        ABORTED = "aborted", "ended by staff, or for lack of money"
        ABANDONED = "abandoned", "ended because somebody was gone"

    id: int
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    world = models.CharField(max_length=40)
    world_version = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    label = models.CharField(max_length=80, blank=True)
    synthetic = models.BooleanField(default=False)
    hints = models.BooleanField(default=False, help_text="The page gives hints about good next actions.")
    until = models.JSONField(
        null=True,
        blank=True,
        help_text="Metrics with the values that end the episode. Empty: the world decides when it ends.",
    )
    goal = models.JSONField(
        null=True,
        blank=True,
        help_text="The goal of a round: metrics with their least values. `until` says whether it ends there.",
    )
    shown = models.CharField(
        max_length=10,
        default=DRAWING_TABLES,
        db_default=DRAWING_TABLES,
        help_text="How pages show the world: tables, a drawing, or both.",
    )
    asks_first = models.BooleanField(
        default=False, db_default=False, help_text="The page asks for confirmation before it sends an action."
    )
    three_dimensions = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The page also offers the world as a scene in three dimensions.",
    )
    shows_intents = models.BooleanField(
        default=False, db_default=False, help_text="The page shows what teammates are about to do."
    )
    recommends_sound = models.BooleanField(
        default=False, db_default=False, help_text="The page offers once to switch sound on."
    )
    hides_dots = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The page does not mark the actions that advance an order.",
    )
    star_targets = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="A metric with its values for one, two and three stars. Empty: no stars.",
    )
    order_choices = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The page offers whole parts of an order as one choice.",
    )
    probes = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="Questions that hold the game (`kitchen.contract.probes`). Empty: none.",
    )
    rating_slider = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="The slider that is always on the page: its text and its ends. Empty: none.",
    )
    probe_state = models.JSONField(
        null=True,
        blank=True,
        help_text="How often each probe was asked, and who still has to answer. Empty: none was asked.",
    )
    probing = models.BooleanField(
        default=False, db_default=False, help_text="A probe holds the game until people have answered."
    )
    passes_by = models.BooleanField(
        default=False, db_default=False, help_text="Steps do not wait for seats without a choice."
    )
    knowing = models.CharField(
        max_length=10,
        default=EVERYBODY,
        db_default=EVERYBODY,
        help_text="Whose commands a co-player knows before it decides on the same step.",
    )
    organisation = models.JSONField(
        null=True,
        blank=True,
        help_text="The members, and who may command and write to whom. Empty: nobody writes to anybody.",
    )
    messages = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of messages sent so far."
    )
    offers_plans = models.BooleanField(
        default=False, db_default=False, help_text="The page offers to plan the next actions."
    )
    plans = models.JSONField(
        null=True, blank=True, help_text="The planned commands of each seat. Empty: none."
    )
    schedule_state = models.JSONField(
        null=True,
        blank=True,
        help_text="Who was asked when, and what takes effect later. Empty: all choose for each step.",
    )
    absence = models.JSONField(
        null=True,
        blank=True,
        help_text="What happens to the seat of a person who is gone. Empty: the episode ends.",
    )
    gone = models.JSONField(
        null=True,
        blank=True,
        help_text="For each seat that a co-player took over: the first such step, and the reason.",
    )
    audience = models.CharField(
        max_length=80,
        blank=True,
        default="",
        help_text="The group of staff pages that get live updates of it.",
    )

    status = models.CharField(max_length=10, choices=Status, default=Status.PLAYING)
    ended_because = models.TextField(blank=True, default="", help_text="The reason why it ended early.")
    step = models.PositiveIntegerField(default=0, help_text="Steps taken so far.")
    state = models.JSONField(default=dict)
    state_hash = models.CharField(max_length=64)
    score = models.JSONField(default=dict)

    budget = models.ForeignKey(
        Budget, null=True, blank=True, on_delete=models.PROTECT, related_name="episodes"
    )
    thinking_seconds = models.FloatField(
        default=0, help_text="The least time that every co-player takes for a step."
    )
    decision_seconds = models.FloatField(
        help_text="The time limit for all co-players' decisions on one step."
    )
    deciding_until = models.DateTimeField(
        null=True, blank=True, help_text="The claim on the co-players' decision ends at this time."
    )
    deciding_by = models.CharField(
        max_length=120,
        blank=True,
        default="",
        help_text="The claim of a worker of an earlier version, which decides for all co-players.",
    )
    step_seconds = models.FloatField(
        null=True, blank=True, help_text="The time that people have for a step. Empty: no limit."
    )
    tick_ms = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Milliseconds between two steps under a clock. Empty: the game is played in turns.",
    )
    turn_opened_at = models.DateTimeField()
    turn_closes_at = models.DateTimeField(
        null=True, blank=True, help_text="Players without a command at this time wait in this step."
    )
    asked_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When people began to choose, if they talked before that.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # No index covers a column that every step changes. PostgreSQL can then update the row in place (HOT).
        indexes = [
            models.Index(fields=["id"], name="episodes_playing", condition=models.Q(status="playing")),
            models.Index(fields=["audience", "ended_at"], name="episodes_of_audience"),
        ]

    def __str__(self) -> str:
        return f"{self.world} {self.key}"

    @property
    def team(self) -> Organisation | None:
        """Return the team organisation of the episode: who may command and write to whom. None if nobody can
        send messages."""
        return Organisation.from_json(self.organisation) if self.organisation else None


class Ticking(models.Model):
    """The claim of the clock process that computes the steps of a real-time episode, and counts of late
    steps."""

    episode = models.OneToOneField(
        Episode, on_delete=models.CASCADE, related_name="ticking", primary_key=True
    )
    episode_id: int
    owner = models.CharField(
        max_length=120,
        blank=True,
        default="",
        help_text="The claim of the process that takes the steps. Empty: none.",
    )
    until = models.DateTimeField(
        null=True, blank=True, help_text="The claim ends at this time unless it is renewed."
    )
    late = models.PositiveIntegerField(default=0, help_text="Number of steps taken too late.")
    lost_ms = models.PositiveIntegerField(
        default=0, help_text="Milliseconds during which the clock was stopped."
    )

    def __str__(self) -> str:
        return f"{self.episode_id}, taken by {self.owner or 'nobody'}"


class ImportedEpisode(models.Model):
    """The mark of an episode that was not played here: its game was read from a file.

    It has no participants, so it is in no study, analysis or table of results.
    """

    episode = models.OneToOneField(
        Episode, on_delete=models.CASCADE, related_name="imported", primary_key=True
    )
    episode_id: int
    file_hash = models.CharField(max_length=64, help_text="SHA-256 of the file.")
    file_name = models.CharField(max_length=120, blank=True, default="")
    trial = models.CharField(max_length=120, help_text="The game's name in the file.")
    people = models.JSONField(default=list, help_text="Whether a person played, by seat.")
    imported_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-imported_at", "episode_id"]
        constraints = [
            models.UniqueConstraint(fields=["file_hash", "trial"], name="one_episode_per_file_and_trial")
        ]

    def __str__(self) -> str:
        return f"{self.trial} of {self.file_name or self.file_hash[:12]}"


class Mind(models.Model):
    """An agent in one episode. It commands one or more seats."""

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="minds")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40)
    settings = models.JSONField(default=dict)
    deciding_step = models.PositiveIntegerField(
        null=True, blank=True, help_text="The step of the newest claim. A claim for another step is void."
    )
    deciding_until = models.DateTimeField(
        null=True, blank=True, help_text="The claim ends at this time unless it is renewed."
    )
    deciding_by = models.CharField(
        max_length=120,
        blank=True,
        default="",
        db_default="",
        help_text="The claim of the worker that asks the agent.",
    )
    called_in = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The last step in which it was asked although its seats were busy.",
    )

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_mind_per_number")]

    def __str__(self) -> str:
        return f"mind {self.number} ({self.kind})"


class Seat(models.Model):
    """One seat of an episode. A person plays it if `mind` (the agent) is empty.

    Anybody who knows `key` can play the seat. A leader without a seat in the world also has a row. In this
    row, `acts` is False and `number` is higher than every seat number of the world.
    """

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    mind = models.ForeignKey(Mind, null=True, blank=True, on_delete=models.CASCADE, related_name="seats")
    acts = models.BooleanField(
        default=True,
        db_default=True,
        help_text="True for a seat of the world; false for a leader without one.",
    )
    may_act_in = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The last step that did not wait for this seat, but in which it could act.",
    )
    answer_awaited_in = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The last step that waited for its person to answer a message although the seat was busy.",
    )
    key = models.CharField(max_length=32, unique=True, default=new_key)
    page = models.CharField(
        max_length=32,
        blank=True,
        default="",
        help_text="The browser page that plays; empty before the first.",
    )
    scene = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        help_text="How the scene was seen: `screen`, `headset` (even if a screen was used, too), or empty.",
    )
    view = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        help_text="The views seen while choosing, if there are two: `tables`, `drawn` or `both`.",
    )
    sound = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        help_text="Whether the person had sound: `on`, `part` (switched during the episode), or empty.",
    )
    round_trips = models.JSONField(
        null=True,
        blank=True,
        help_text="How often the server answered the person's page within so many milliseconds.",
    )

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_seat_per_number")]

    def __str__(self) -> str:
        return f"seat {self.number}"

    @property
    def is_person(self) -> bool:
        """Return True if a person plays this seat."""
        return self.mind_id is None

    mind_id: int | None


class SeatCommand(AppendOnly):
    """The command of one seat for one step, and who chose it. It is stored before the step runs."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="commands")
    step = models.PositiveIntegerField(help_text="The step that the row is for; the first is 1.")
    seat = models.PositiveSmallIntegerField()
    command = models.JSONField()
    chosen_by = models.CharField(
        max_length=40,
        help_text="Who chose: `person`, `timeout`, `outage`, `clock`, `world`, or the kind of co-player.",
    )
    fallback = models.CharField(
        max_length=20,
        blank=True,
        default="",
        help_text="Why a fallback chose: `timeout`, `outage`, `error`, or a model's error code.",
    )
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    to_follow = models.JSONField(null=True, blank=True, help_text="Commands planned to follow this one.")
    planned_in = models.PositiveIntegerField(
        null=True, blank=True, help_text="The step with the plan that this command belongs to. Empty: none."
    )

    class Meta(AppendOnly.Meta):
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "step", "seat"], name="one_command_per_seat_and_step")
        ]

    def __str__(self) -> str:
        return f"step {self.step}, seat {self.seat}: {' '.join(self.command)}"


class Decision(AppendOnly):
    """One decision of an agent for one step, with the memory that the agent keeps for its next decision.

    A decision without effect (`dropped`) is stored because of its text and its cost. Its memory is not
    used.
    """

    mind = models.ForeignKey(Mind, on_delete=models.CASCADE, related_name="decisions")
    step = models.PositiveIntegerField(help_text="The step that the row is for; the first is 1.")
    memory = models.JSONField(null=True)
    note = models.JSONField(null=True)
    played_by = models.CharField(
        max_length=40, help_text="The kind of agent that really chose: this kind, or a stand-in."
    )
    fallback = models.CharField(max_length=20, blank=True, default="", help_text="As in `SeatCommand`.")
    error = models.TextField(blank=True)
    milliseconds = models.FloatField()
    decided_at = models.DateTimeField(default=timezone.now, editable=False)
    number = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="1 for the first decision of the mind; empty in logs of earlier versions.",
    )
    seen_step = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Steps taken when the mind was asked; empty in logs of earlier versions.",
    )
    because = models.CharField(
        max_length=20,
        blank=True,
        default="",
        db_default="",
        help_text="Why the mind was asked, such as `seat`: a seat had a choice. Empty in logs of earlier "
        "versions.",
    )
    dropped = models.CharField(
        max_length=20,
        blank=True,
        default="",
        db_default="",
        help_text="Why the decision was not used; empty if its commands were sent.",
    )

    class Meta(AppendOnly.Meta):
        ordering = ["step"]
        indexes = [
            models.Index(fields=["mind", "dropped", "played_by", "fallback"], name="decisions_by_player"),
            models.Index(fields=["mind", "step"], name="decisions_by_step"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["mind", "number"],
                name="one_decision_per_mind_and_number",
                condition=models.Q(number__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"step {self.step}, decided by {self.played_by}"

    @property
    def note_text(self) -> str:
        """Return the agent's note on its decision as indented JSON."""
        return json.dumps(self.note, indent=2, ensure_ascii=False)


class PendingQuestion(models.Model):
    """A question to an agent whose decision takes effect in a later step. No step before that waits for it.

    The row is deleted when the agent's decision is stored, or when the episode ends.
    """

    id: int
    mind = models.OneToOneField(Mind, on_delete=models.CASCADE, related_name="question")
    mind_id: int
    asked_step = models.PositiveIntegerField(help_text="The step in which it was asked; the first is 1.")
    due_step = models.PositiveIntegerField(
        help_text="The step in which the decision takes effect; 0: the first that opens after it has arrived."
    )
    situation = models.JSONField(help_text="What the agent knew, and why it was asked.")
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    deciding_until = models.DateTimeField(
        null=True, blank=True, help_text="The claim ends at this time unless it is renewed."
    )
    deciding_by = models.CharField(
        max_length=120, blank=True, default="", help_text="The claim of the worker that asks the agent."
    )

    def __str__(self) -> str:
        return f"question to {self.mind} in step {self.asked_step}"


class Message(AppendOnly):
    """A message from one member of an episode to others, numbered in the order of sending.

    Messages are not part of the world's state. `kitchen.play.turn.conversation` decides who receives them.
    """

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="sent")
    episode_id: int
    number = models.PositiveIntegerField(help_text="The number within the episode; the first is 1.")
    step = models.PositiveIntegerField(help_text="The open step; the first is 1.")
    sender = models.PositiveSmallIntegerField(
        null=True, help_text="The member who wrote it; empty for the program."
    )
    to = models.JSONField(help_text="The members who received it.")
    kind = models.CharField(max_length=10)
    text = models.TextField(blank=True)
    data = models.JSONField(default=dict)
    decision = models.ForeignKey(
        Decision, null=True, blank=True, on_delete=models.CASCADE, related_name="said"
    )
    sent_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_message_per_number")]

    def __str__(self) -> str:
        return f"message {self.number}"


class Prompt(models.Model):
    """A text that was sent to language models. Equal texts share one row."""

    hash = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of the text.")
    text = models.TextField()

    def __str__(self) -> str:
        return self.hash[:12]


class ModelCall(AppendOnly):
    """One call of a language model for one decision: the request, its outcome and its cost."""

    id: int
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveSmallIntegerField(help_text="1 for the decision's first call.")
    provider = models.CharField(max_length=40)
    model_asked = models.CharField(max_length=120)
    model_named = models.CharField(max_length=120, blank=True, help_text="The name that the API returned.")
    sampling = models.JSONField(help_text="Temperature, longest answer, effort, tool.")
    parameters = models.JSONField(
        null=True,
        help_text="All other parameters of the request, with the API's names; empty in calls of earlier "
        "versions.",
    )
    reply = models.TextField(blank=True)
    reply_call = models.JSONField(null=True)
    stop = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=20, blank=True, help_text="The error code if there was no answer.")
    error_text = models.TextField(blank=True)
    reasoning = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="The model's reasoning before its answer, if its API returns it.",
    )
    attempts = models.JSONField(
        help_text="Each attempt: outcome, seconds, seconds waited after it, cost, begin and end, time "
        "limit, and the server's request ID."
    )
    seconds = models.FloatField()
    tokens_input = models.PositiveIntegerField(help_text="Not counting cached tokens.")
    tokens_output = models.PositiveIntegerField()
    tokens_cache_read = models.PositiveIntegerField()
    tokens_cache_write = models.PositiveIntegerField()
    tokens_thinking = models.PositiveIntegerField(
        null=True,
        help_text="The part of the written tokens in which the model thought; empty in calls of earlier "
        "versions.",
    )
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, help_text="US dollars; empty if no price is known."
    )

    class Meta(AppendOnly.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["decision", "number"], name="one_call_per_number")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model_asked}: {self.error or 'answered'}"

    @property
    def parameters_text(self) -> str:
        """Return the request's parameters other than its texts, as indented JSON."""
        return json.dumps(self.parameters, indent=2, ensure_ascii=False)


class CallMessage(AppendOnly):
    """One message of the prompt that a language model received."""

    call = models.ForeignKey(ModelCall, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10)
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="uses")

    class Meta(AppendOnly.Meta):
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_message_per_position")]

    def __str__(self) -> str:
        return f"{self.role}: {self.prompt}"


class Step(AppendOnly):
    """One step that was taken. Replaying all `commands` from the seed leads to `state_hash` again."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField(help_text="The first step is 1.")
    commands = models.JSONField(
        help_text="`{seat, command, chosen_by, fallback, received_at}` in the order of execution."
    )
    events = models.JSONField()
    state_hash = models.CharField(max_length=64, help_text="The hash of the state after the step.")
    score = models.JSONField(help_text="The score after the step.")
    opened_at = models.DateTimeField()
    taken_at = models.DateTimeField()
    chain = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="SHA-256 of the previous hash and of this row; empty in logs of earlier versions.",
    )

    class Meta(AppendOnly.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_row_per_step")]

    def __str__(self) -> str:
        return f"step {self.number}"


class ProbeAnswer(AppendOnly):
    """One person's answer to one probe, which held the game after a step."""

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="probe_answers")
    episode_id: int
    step = models.PositiveIntegerField(help_text="The step after which the game was held.")
    seat = models.PositiveSmallIntegerField()
    probe = models.CharField(max_length=30, help_text="The key of the probe.")
    answers = models.JSONField(null=True, help_text="The answer to each item, by key. Empty: no answer.")
    missing = models.CharField(
        max_length=10, blank=True, help_text="Why there is no answer: `limit`, `left` or `ended`."
    )
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["step", "seat", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["episode", "step", "seat", "probe"], name="one_answer_per_probe_seat_and_step"
            )
        ]

    def __str__(self) -> str:
        return f"step {self.step}, seat {self.seat}: {self.probe}"


class SliderRating(AppendOnly):
    """One value at which a person has left the slider of an episode."""

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="slider_ratings")
    episode_id: int
    step = models.PositiveIntegerField(help_text="Steps taken when it was moved.")
    seat = models.PositiveSmallIntegerField()
    value = models.PositiveSmallIntegerField(help_text="0 to 100.")
    rated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ["id"]
        indexes = [models.Index(fields=["episode", "seat"], name="ratings_of_seat")]

    def __str__(self) -> str:
        return f"step {self.step}, seat {self.seat}: {self.value}"


class StateChange(AppendOnly):
    """The change that one step made to a large part of the state (`World.large`), or the complete part after
    that step.

    `Episode.state` holds only a hash of each such part.
    """

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="state_changes")
    episode_id: int
    step = models.PositiveIntegerField(help_text="The step that changed the part; 0 for the initial state.")
    part = models.CharField(max_length=40, help_text="The key of the part in the state.")
    is_whole = models.BooleanField(help_text="True if `changed` has all entries, not only the changed ones.")
    changed = models.TextField(help_text="New entries and new values: a JSON object.")
    removed = models.TextField(help_text="Removed keys: a JSON list.")
    root = models.CharField(max_length=64, help_text="Hash of the part after the step.")

    class Meta(AppendOnly.Meta):
        ordering = ["step"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "step", "part"], name="one_change_per_step_and_part")
        ]

    def __str__(self) -> str:
        return f"step {self.step}: {self.part}"


class Seal(AppendOnly):
    """A signature of an episode's facts, made with this installation's key (see
    `kitchen.play.episode.log_integrity`)."""

    class Kind(models.TextChoices):
        BEFORE = "before", "was there before there were seals"
        END = "end", "came to its end"

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="seals")
    episode_id: int
    kind = models.CharField(max_length=6, choices=Kind)
    facts = models.JSONField(help_text="The sealed facts, by name.")
    mac = models.CharField(max_length=64, help_text="HMAC-SHA-256 of kind, the episode's key and facts.")

    class Meta(AppendOnly.Meta):
        constraints = [models.UniqueConstraint(fields=["episode", "kind"], name="one_seal_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.episode_id}, {self.kind}"
