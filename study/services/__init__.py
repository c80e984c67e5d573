"""Everything that changes a study and its participants, one module a matter.

Each is one transaction on the locked participant or study; each may be asked twice, the second time changes
nothing.
"""
