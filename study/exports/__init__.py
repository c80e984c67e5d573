"""Export a study's data as tables in CSV or Parquet files.

Every row tells whether it belongs to a synthetic participant (a program). Columns keep their positions: new
ones are added at the end. No table contains the keys that give access to participants' pages or seats.
"""
