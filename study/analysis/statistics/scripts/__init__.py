"""Write the scripts with which a researcher reproduces `tests.csv`: one for R, and one for Python.

`reproduce.R` and `reproduce.py` are the scripts, each with an empty description of the study. Then
`script_files.py` fills in the description. The scripts read the exported files only.
They do not import Brigade.
"""
