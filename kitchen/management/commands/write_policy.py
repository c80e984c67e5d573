"""`python manage.py write_policy --out tree.txt`: let a language model write the policy of a co-player.

The model writes a policy, sees what it reached in both seats beside other co-players, and revises it, round
by round. The best policy is chosen on other seeds than those that the model is told about, and measured once
more on a third group of seeds. No database is needed. FILE.jsonl beside the file gets every round with its
prompts, replies and costs. Exit code 2: bad arguments (one line). Exit code 1: a call got no answer, such as
one that the budget does not cover; the best policy until then is in the file.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.world_errors import SettingsError
from kitchen.experiments.experiment_forecast import read_budget
from kitchen.experiments.experiment_setup import SetupError
from kitchen.experiments.policy_evaluation import PolicyTest, language_of, worlds_with_policies
from kitchen.experiments.policy_writer import PolicyRound, PolicyWriter, WritingPlan
from kitchen.experiments.setup_arguments import whole_number
from kitchen.infra.file_writing import write_atomically
from kitchen.llm.call_costs import PriceFileError, UnknownPriceError, format_dollars, load_prices
from kitchen.llm.in_memory_purse import InMemoryPurse
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting, why_not_usable
from kitchen.management.command_helpers import OneLineCommand, Progress
from kitchen.registry.world_registry import get_pairings
from kitchen.words.english_text import counted_noun, os_error_words

LIMITS: Mapping[str, tuple[int, int]] = {
    "rounds": (1, 200),
    "seeds": (1, 100),
    "seed": (0, 2**31),
    "ticks": (1, 2000),
}
"""The smallest and the largest value of each whole number."""
HEAD = "round  told seeds  other seeds  best        cost"


class Command(OneLineCommand):
    """Write a policy in rounds. Prints a line for each round; the last line names the best policy."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments: where and beside whom the policy plays, the model, and the file."""
        add, worlds = parser.add_argument, ", ".join(worlds_with_policies())
        add("--world", metavar="W", default="", help=f"(default: the first of {worlds})")
        add("--layouts", metavar="all|LIST", default="all", help="(default: all, those of the papers)")
        add("--partner", metavar="LIST", default="greedy", help="co-players beside it (default: greedy)")
        add("--rounds", metavar="N", default="8", help="(default: 8)")
        add("--seeds", metavar="N", default="3", help="of each of three groups (default: 3)")
        add("--seed", metavar="S", default="1", help="(default: 1)")
        add("--ticks", metavar="N", default="400", help="of an episode (default: 400)")
        add("--model", metavar="M", default=STAND_IN, help=f"provider:model (default: {STAND_IN})")
        add("--budget", metavar="USD", help="US dollars for all calls; needed for a model that costs money")
        add("--begin", metavar="FILE", type=Path, help="the policy to begin with (default: the shipped one)")
        add("--out", metavar="FILE", type=Path, required=True, help="a new file for the best policy")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        """Read the arguments, write the policy, and print a table of the rounds."""
        try:
            test, plan = self._read(options)
            beginning = _beginning(test, options["begin"])
            rounds_file = _new_files(out)
            purse = _purse(plan, read_budget(options["budget"]))
            with asyncio.Runner() as loop:
                writer = PolicyWriter(test, plan, loop.run, purse)
                self._write(writer, beginning, out, rounds_file)
        except (SettingsError, SetupError, PriceFileError) as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"cannot write to {out}: {os_error_words(error)}", returncode=2) from error

    def _read(self, options: Mapping[str, Any]) -> tuple[PolicyTest, WritingPlan]:
        """Return what is played and how it is written. Raises SettingsError or SetupError in one line."""
        numbers = {name: _number(name, options[name]) for name in LIMITS}
        world = options["world"] or worlds_with_policies()[0]
        language_of(world)
        usual = get_pairings(world).usual_levels()
        levels = usual if options["layouts"] == "all" else _names("--layouts", options["layouts"])
        test = PolicyTest(world, levels, _names("--partner", options["partner"]), numbers["ticks"])
        test.check()
        provider, model = parse_model_setting(options["model"])
        if whys := why_not_usable(provider, model):
            raise SettingsError(f"--model: {whys[0]}")
        return test, WritingPlan(provider, model, numbers["rounds"], numbers["seeds"], numbers["seed"])

    def _write(self, writer: PolicyWriter, beginning: str, out: Path, rounds_file: Path) -> None:
        progress = Progress(sys.stderr, writer.episodes, 0, "episodes") if sys.stderr.isatty() else None
        done = 0

        def after_episode() -> None:
            nonlocal done
            done += 1
            if progress:
                progress.show(done)

        writer.after_episode = after_episode
        self.stdout.write(HEAD)
        made = PolicyRound(0)
        for made in writer.rounds(beginning):
            if made.number == 0:
                self._tell_worst_cost(writer)
            _append(rounds_file, made)
            if made.is_best:
                write_atomically(out, made.policy.encode())
            self.stdout.write(_row(made))
            self.stdout.flush()
        best, first = writer.measured_at_end()
        if progress:
            progress.close()
        seeds = counted_noun(writer.plan.seeds, "seed")
        reached = f"mean {best:.1f} points over {seeds} (beginning {first:.1f})"
        last = f"best tree: round {writer.best.number}, {reached}"
        if made.error:
            call = made.calls[-1]
            self.stdout.write(last)
            raise CommandError(
                f"stopped in round {made.number}: {call.error}: {call.error_text}", returncode=1
            )
        self.stdout.write(last)

    def _tell_worst_cost(self, writer: PolicyWriter) -> None:
        """Print the largest cost of all calls, if the model costs money."""
        if writer.purse is None:
            return
        try:
            worst = format_dollars(writer.worst_cost(load_prices()))
        except UnknownPriceError as error:
            raise SettingsError(f"--model: {error}") from error
        limit = format_dollars(writer.purse.limit) if isinstance(writer.purse, InMemoryPurse) else ""
        self.stderr.write(f"at worst {worst} for all rounds, and never more than the budget of {limit}")


def _number(name: str, text: str) -> int:
    number, (low, high) = whole_number(f"--{name}", text), LIMITS[name]
    if not low <= number <= high:
        raise SetupError(f"--{name}: {number} is not from {low} to {high}")
    return number


def _names(option: str, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise SetupError(f"{option}: names nothing")
    return names


def _beginning(test: PolicyTest, file: Path | None) -> str:
    """Return the policy to begin with. Raises SettingsError if the file has none."""
    if file is None:
        return test.language.beginning
    try:
        policy = file.read_text(encoding="utf-8")
        test.language.check(policy)
    except (OSError, ValueError) as error:
        why = os_error_words(error) if isinstance(error, OSError) else error
        raise SettingsError(f"--begin: {file}: {why}") from error
    return policy


def _new_files(out: Path) -> Path:
    """Return the file for the rounds, beside `out`. Raises SettingsError if one of the two files exists, so
    that nothing paid for is lost."""
    rounds_file = out.with_name(f"{out.name}.jsonl")
    for file in (out, rounds_file):
        if file.exists():
            raise SettingsError(f"--out: {file} exists already; name a new file")
    if not out.parent.is_dir():
        raise SettingsError(f"--out: {out.parent} is no folder")
    return rounds_file


def _purse(plan: WritingPlan, budget: float | None) -> InMemoryPurse | None:
    """Return the purse that pays; None for the stand-in. Raises SettingsError if a model that costs money has
    no budget."""
    if plan.provider == STAND_IN:
        return None
    if budget is None:
        raise SettingsError(f"--budget: {plan.provider}:{plan.model} may cost money, so name a budget")
    return InMemoryPurse(budget)


def _append(file: Path, made: PolicyRound) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(made.to_json(), ensure_ascii=False) + "\n")


def _row(made: PolicyRound) -> str:
    """Return the line of a round in the table."""
    shown, others = (
        "-" if result is None else f"{result.mean:.1f}" for result in (made.shown, made.chosen_by)
    )
    why = "" if made.policy else f"  no tree: {made.faults[-1] if made.faults else made.error}"
    best = "yes" if made.is_best else "no"
    return f"{made.number:5}  {shown:>10}  {others:>11}  {best:4}  {format_dollars(made.cost):>10}{why}"
