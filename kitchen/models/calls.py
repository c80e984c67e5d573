"""What models were asked for a decision, and what they answered."""

from __future__ import annotations

from django.db import models

from kitchen.models.append_only import AppendOnly
from kitchen.models.log import Decision


class Prompt(models.Model):
    """A text that models were sent, stored once however often it was sent."""

    hash = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of the text.")
    text = models.TextField()

    def __str__(self) -> str:
        return self.hash[:12]


class ModelCall(AppendOnly):
    """One call of a language model for one decision: what was asked, how it ended, what it cost."""

    id: int
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveSmallIntegerField(help_text="1 for the decision's first call.")
    provider = models.CharField(max_length=40)
    model_asked = models.CharField(max_length=120)
    model_named = models.CharField(max_length=120, blank=True, help_text="As the API named it.")
    sampling = models.JSONField(help_text="Temperature, longest answer, tool.")
    reply = models.TextField(blank=True)
    reply_call = models.JSONField(null=True)
    stop = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=20, blank=True, help_text="Code, where there was no answer.")
    error_text = models.TextField(blank=True)
    attempts = models.JSONField(help_text="Every try: outcome, seconds, seconds waited after it, cost.")
    seconds = models.FloatField()
    tokens_input = models.PositiveIntegerField(help_text="Without the cached ones.")
    tokens_output = models.PositiveIntegerField()
    tokens_cache_read = models.PositiveIntegerField()
    tokens_cache_write = models.PositiveIntegerField()
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, help_text="US dollars; empty where no price is known."
    )

    class Meta(AppendOnly.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["decision", "number"], name="one_call_per_number")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model_asked}: {self.error or 'answered'}"


class CallMessage(AppendOnly):
    """One message of what a model was asked."""

    call = models.ForeignKey(ModelCall, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10)
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="uses")

    class Meta(AppendOnly.Meta):
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["call", "position"], name="one_message_per_position")]

    def __str__(self) -> str:
        return f"{self.role}: {self.prompt}"
