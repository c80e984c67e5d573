"""Compute the statistics of a study: take observations, and return test results, charts and files.

The data flow::

    Observation rows, conditions, measures        observations.py              input, checks, one table per
                                                                               measure
    → exclusions, versions, players               sample_composition.py        who is excluded, and why
    → Description, Anova, Tukey                   anova_and_tukey.py           tests of the MindAgent paper
    → within-subject tests                        within/                      tests that fit the design
    → factorial tests                             factorial/                   designs with several factors
    → Analysis                                    run_analysis.py              all results, frozen
    → figures, CSV, JSON, report                  result_charts.py, result_files.py, markdown_report.py

Use it like this::

    from study.analysis.statistics.run_analysis import analyse
    from study.analysis.statistics.result_files import write_files
    analysis = analyse(observations, conditions, measures)
    write_files(analysis, directory)

Each test is a function that takes a `MeasureTable`. It returns a frozen result, or `NotComputable` with a
reason. `MeasureResult` has one field per test. One-way ANOVA and Tukey's HSD replicate the human study of
MindAgent (arXiv 2309.09971, section 5.3 and Figure 5). These two tests treat observations as independent,
although the design is within subjects.

A test imports scipy when it runs, because scipy is slow to import. The package does not import Django.
"""
