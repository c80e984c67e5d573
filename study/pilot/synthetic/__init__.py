"""Write many synthetic participants directly into the database, to try exports and analyses at full size.

In contrast, the synthetic participants of `study.pilot.bots` use the real pages.
"""
