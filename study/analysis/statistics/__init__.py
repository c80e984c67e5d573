"""Compute the statistics of a study: rows in, numbers and figures out. No Django.

The data flow::

    Observation rows, conditions, measures        observations.py              input, checks, one table per
                                                                               measure
    → exclusions, versions, players               sample_composition.py        who is excluded, and why
    → Description, Anova, Tukey                   anova_and_tukey.py    the tests of the paper
    → within-subject tests                        within/                      the tests that fit the design
    → Analysis                                    run_analysis.py              all results, frozen
    → figures, CSV, JSON, report                  result_charts.py, result_files.py, markdown_report.py

Use it like this::

    from study.analysis.statistics.run_analysis import analyse
    from study.analysis.statistics.result_files import write_files
    analysis = analyse(observations, conditions, measures)
    write_files(analysis, directory)

A test is one function from `MeasureTable` to a frozen result, or to `NotComputable` with a reason.
`MeasureResult` has one field per test. One-way ANOVA and Tukey's HSD replicate the human study of MindAgent
(arXiv 2309.09971, section 5.3 and Figure 5). They treat observations as independent although the design is
within subjects.

scipy is imported when a test runs, because it is slow to import.
"""
