"""Write many synthetic participants into the database, to try exports and analyses at full size.

`study.pilot.bots` uses the real pages instead.
"""
