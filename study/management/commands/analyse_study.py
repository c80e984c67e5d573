"""Analyse a study and write its tables, figures and report: `python manage.py analyse_study SLUG --out DIR`.

The report is written as HTML and PDF.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from kitchen.words.english_text import counted_noun
from study.analysis import analysis_sample
from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.observations import AnalysisError
from study.analysis.statistics.result_sentences import main_test_sentence
from study.analysis.statistics.run_analysis import Analysis
from study.design.study_versions import frozen_version
from study.management.study_command import StudyCommand, bad_input, writing_to
from study.reporting.report_output import collect_report, write_report


class Command(StudyCommand):
    """Analyses participants who completed a study: people or, if no person has completed it yet, synthetic
    participants."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study, the folder for the files, and whose data to analyse."""
        super().add_arguments(parser)
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the files")
        whose = "whose data (default: people, synthetic if none)"
        parser.add_argument("--who", choices=sorted(analysis_sample.WHO), help=whose)
        only = "only those who entered under the preregistered design, after it was frozen"
        parser.add_argument("--only-preregistered", action="store_true", help=only)
        without = "without the episodes that an outage of ours touched"
        parser.add_argument("--without-outages", action="store_true", help=without)

    def handle(
        self, *args: Any, slug: str, out: Path, who: str | None, only_preregistered: bool, **options: Any
    ) -> None:
        """Write the analysis to the folder, and print the main test of each measure. Warnings go to standard
        error.

        Raises CommandError with exit code 2 if nobody can be analysed, or the folder cannot be written.
        """
        study = self.study(slug)
        who = who or analysis_sample.default_participants(study)
        if only_preregistered and not frozen_version(study):
            raise CommandError(f"no version of {slug} is preregistered", returncode=2)
        whose = analysis_sample.WHO[who] + (", as preregistered" if only_preregistered else "")
        untouched = options.get("without_outages", False)
        with bad_input(AnalysisError):
            analysis = analyse_present_data(study, who, only_preregistered, untouched)
        if not analysis.participants:
            raise CommandError(_nobody(analysis, slug, whose), returncode=2)
        whom = analysis_sample.Sample(study, who=who, preregistered=only_preregistered, untouched=untouched)
        with writing_to(out):
            write_report(collect_report(study, whom, analysis, made_at=timezone.now()), out)
        for result in analysis.measures:
            self.stdout.write(f"{result.measure.label}. {main_test_sentence(result)}")
        if untouched and analysis.attrition:
            touched = counted_noun(analysis.attrition.touched, "episode")
            self.stdout.write(f"left out: {touched} with an outage")
        for warning in analysis.warnings:
            self.stderr.write(f"warning: {warning}")
        self.stdout.write(f"{len(analysis.participants)} participants ({whose}), files in {out}")


def _nobody(analysis: Analysis, slug: str, whose: str) -> str:
    attrition = analysis.attrition
    if attrition is None or not attrition.completed:
        return f"nobody has completed {slug} yet ({whose})"
    reasons = f"{attrition.excluded} excluded by staff, {attrition.failed_checks} by attention checks"
    return f"all {attrition.completed} who completed {slug} ({whose}) are left out: {reasons}"
