"""What a researcher may set about the stand-in, whichever co-player asks it. Plain Python."""

from __future__ import annotations

from kitchen.contract.world import Setting


def stand_in_settings(errors: str) -> tuple[Setting, ...]:
    """How it plays; `errors` is what it gets wrong, in the words of the co-player: `commands`."""
    return (
        _setting("errors", f"share of wrong {errors}", 1),
        _setting("nonsense", "share of senseless replies", 1),
        _setting("latency", "seconds to answer", 600),
        _setting("failures", "share of failing calls", 1),
    )


def _setting(name: str, words: str, most: int) -> Setting:
    said = "Of effect for the stand-in only."
    return Setting(f"stand_in_{name}", "float", f"Stand-in: {words}", 0.0, help=said, minimum=0, maximum=most)
