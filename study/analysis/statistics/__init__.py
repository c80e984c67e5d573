"""The statistics of a study: rows in, numbers and figures out. Plain Python, no Django.

The data flow::

    Observation rows, conditions, measures        observations.py              input, checks, one table per
    measure
      → exclusions, versions, players             sample_composition.py        who is left out, and why
      → Description, Anova, Tukey                 descriptives_and_anova.py    the tests of the paper
      → within-subject tests                      within/                      the tests that fit the design
      → Analysis                                  run_analysis.py              all of it, frozen
      → figures, CSV, JSON, report                result_charts.py, result_files.py, markdown_report.py

::

    from study.analysis.statistics.run_analysis import analyse
    from study.analysis.statistics.result_files import write_files
    analysis = analyse(observations, conditions, measures)
    write_files(analysis, directory)

A test is one function from `MeasureTable` to a frozen result, or to `NotComputable` in words. `MeasureResult`
has one field per test. One-way ANOVA and Tukey's HSD replicate the human study of MindAgent (arXiv
2309.09971, section 5.3 and Figure 5): observations are taken as independent although the design is within
subjects.

Nothing heavy is imported before it is used: scipy when a test runs, matplotlib when a figure is drawn.
"""
