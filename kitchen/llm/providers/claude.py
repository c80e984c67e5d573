"""What the Claude models take and refuse, as documented in November 2026 (platform.claude.com, migration
guides of each model; API version 2026-10-21).

- `temperature` is gone from Claude 4.7 on, and from API version 2026-10-21 for all models: the older ones are
  asked by version 2023-06-01 when a temperature is wanted.
- From Claude 5 on, models think before they answer unless told not to; Opus 5.5 and Fable 5.1 always do.
- Opus 5.5, Sonnet 5.5 and Fable 5.1 refuse to be made to call a tool (`tool_choice`), and no model can be
  while it thinks. They are given the tool's schema as the format of their answer instead, which holds them to
  it just as strictly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kitchen.contract.model import Offered
from kitchen.contract.world import Json
from kitchen.llm.model_list import known
from kitchen.llm.naming import undated

OLD_VERSION = "2023-06-01"
"""The API version that still takes a temperature."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What one model takes. The defaults are for a model that is not known here: nothing special."""

    temperature: bool = False
    forced_tool: bool = False
    effort: bool = True
    least: dict[str, Json] = field(default_factory=dict)
    """What to send so that it thinks as little as it can."""

    def calls_tools(self, *, thinks: bool) -> bool:
        """Whether it can be made to answer by a call of a tool."""
        return self.forced_tool and not thinks


_OFF: dict[str, Json] = {"thinking": {"type": "disabled"}}
_LOW: dict[str, Json] = {"output_config": {"effort": "low"}}

CLAUDE: dict[str, Traits] = {
    "claude-fable-5-1": Traits(least=_LOW),
    "claude-haiku-4-5": Traits(temperature=True, forced_tool=True, effort=False),
    "claude-haiku-5-5": Traits(forced_tool=True, least=_OFF),
    "claude-opus-4-5": Traits(temperature=True, forced_tool=True, effort=False),
    "claude-opus-4-6": Traits(temperature=True, forced_tool=True),
    "claude-opus-4-7": Traits(forced_tool=True),
    "claude-opus-4-8": Traits(forced_tool=True),
    "claude-opus-5": Traits(forced_tool=True, least=_OFF),
    "claude-opus-5-5": Traits(least=_LOW),
    "claude-sonnet-4-6": Traits(temperature=True, forced_tool=True),
    "claude-sonnet-5": Traits(forced_tool=True, least=_OFF),
    "claude-sonnet-5-5": Traits(least={"thinking": {"type": "between_tools"}}),
}
"""The models offered, by name."""


def traits(model: str) -> Traits:
    """What a model takes; a date at the end of its name makes no difference. Where Anthropic's own list was
    kept (`kitchen.llm.model_list`), what that says of thinking and effort goes before ours."""
    ours = CLAUDE.get(undated(model))
    told = known("anthropic", model)
    if told is None or not told.thinking:
        return ours or Traits()
    sent = (ours.least if ours else {}).get("thinking", {}).get("type", "")
    least = ours.least if ours and (not sent or sent in told.thinking) else _least(told)
    return replace(ours or Traits(), effort=bool(told.efforts), least=least)


def _least(told: Offered) -> dict[str, Json]:
    """What to send so that a model that says this of itself thinks as little as it can."""
    for way in ("disabled", "between_tools"):
        if way in told.thinking:
            return {"thinking": {"type": way}}
    return _LOW if "low" in told.efforts else {}
