"""The arguments of `manage.py experiment`."""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path

from django.core.management.base import CommandParser

from kitchen.contract.agent import NO_ONE
from kitchen.contract.together import SEATS, SIGN
from kitchen.experiments.setup import BENCH, KNOWN_ALONE, NO_ORGANISATION, OFFERED, WORLD
from kitchen.registry.agents import agent_kinds
from kitchen.registry.worlds import worlds_of_comparison, worlds_of_partners

AT_ONCE = 4
"""Episodes that are played side by side on workers, if nobody says otherwise."""


def add_arguments(parser: CommandParser) -> None:
    """What is played, by whom, and where it goes."""
    add, worlds = parser.add_argument, [WORLD, *worlds_of_partners(), *worlds_of_comparison()]
    add("--world", metavar="W", help=f"one of {', '.join(worlds)} (default: {WORLD})")
    add("--levels", metavar="all|LIST", help="such as 0,1,level_3 (default: all, the paper's 12)")
    _add_partners(parser)
    _add_teams(parser)
    add("--agents", metavar="LIST", help=f"(default: {','.join(map(str, BENCH.agents))})")
    add("--alphas", metavar="LIST", help=f"(default: {','.join(map(str, BENCH.alphas))})")
    add("--co-player", metavar="KIND", help=f"one of {', '.join(agent_kinds(WORLD))}")
    add("--model", metavar="M", help="provider:model; several with commas for table6")
    add("--no-feedback", action="store_true", help="without feedback on the last step")
    add("--no-hints", action="store_true", help="without inference knowledge")
    add("--demo", metavar="few|none|N", help="demonstration: two steps, none, or of N agents")
    add("--set", metavar="NAME=VALUE", action="append", help="any setting of the co-player; repeatable")
    add("--preset", help=f"a table of the paper: {', '.join(BENCH.presets)}")
    add("--episodes", metavar="N", default="3", help="per cell and interval (default: 3)")
    add("--seed", metavar="S", default="1", help="(default: 1)")
    add("--out", metavar="DIR", type=Path, required=True, help="folder for the files")
    add("--local", action="store_true", help="play in this process, without workers")
    add("--budget", metavar="USD", help="US dollars for all its calls, those made already among them")
    add("--yes", action="store_true", help="do not ask before money is spent")
    add("--at-once", metavar="N", default=str(AT_ONCE), help="side by side on workers (default: 4)")
    add("--poll", type=float, default=1.0, help=SUPPRESS)


def _add_teams(parser: CommandParser) -> None:
    """Who plays together, in any world, and how they are organised."""
    add, who = parser.add_argument, f"ONE{SIGN}OTHER{SIGN}…, with commas between; ONE{SEATS}2 has two seats"
    add("--members", metavar="LIST", help=f"who plays, seat 0 first, each a mind of its own: {who}")
    kinds = ", ".join((NO_ORGANISATION, *OFFERED))
    add("--organisation", metavar="LIST", help=f"who may say what to whom: of {kinds}")
    add("--organisation-set", metavar="NAME=VALUE", action="append", help="of the organisation; repeatable")
    knowing = f"one of {', '.join(KNOWN_ALONE)} (default: {NO_ONE})"
    add("--knowing", metavar="WHO", help=f"whose commands of a step a member is told: {knowing}")


def _add_partners(parser: CommandParser) -> None:
    """What is for worlds in which partners are compared alone."""
    add, grounds = parser.add_argument, worlds_of_partners().items()
    usual = "; ".join(f"in {world} {', '.join(ground.usual_levels())}" for world, ground in grounds)
    kinds = "; ".join(f"in {world} of {', '.join(ground.kinds())}" for world, ground in grounds)
    add("--layouts", metavar="all|LIST", help=f"levels where partners are compared (default: all, {usual})")
    add("--pairs", metavar="all|LIST", help=f"as ONE{SIGN}OTHER, seat 0 first (default: all, {kinds})")
    add("--seats", metavar="named|both", help="both: every pair the other way round, too (default: named)")
    add("--seeds", metavar="N", help="episodes of each pair and layout; the same as --episodes")
