"""The statistics of a study: rows in, numbers and figures out. Plain Python, no Django.

The way of the data::

    Observation rows, Conditions, Measures          rows.py        what the caller gives
      → checked, drop-outs set aside                checks.py, exclusions.py
      → one Table per measure                       table.py       what every test is given
      → Descriptions                                describe.py    n, mean, sd, 95 % CI ...
      → Anova, Tukey                                anova.py, tukey.py
      → Analysis                                    analyse.py     all of it, frozen, for pages and files
      → figures, CSV, JSON, report                  figures.py, files.py, report.py

::

    from study.analysis.statistics.analyse import analyse
    from study.analysis.statistics.files import write
    analysis = analyse(observations, conditions, measures)
    write(analysis, directory)

A test is one module with one function from `Table` to a frozen result, or to `NotComputable` in words;
`analyse.MeasureResult` has one field per test. The two here replicate the human study of MindAgent
(arXiv 2309.09971, section 5.3 and Figure 5): a one-way ANOVA over conditions and Tukey's HSD, both with
observations taken as independent although the design is within subjects.

Nothing heavy is imported before it is used: scipy when a test runs, matplotlib when a figure is drawn.
"""
