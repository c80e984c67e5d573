"""Export a study's data as tidy tables.

Every row says whether it comes from a synthetic participant. Columns keep their positions: new ones are added
at the end. No table contains the keys of participants' pages or seats.
"""
