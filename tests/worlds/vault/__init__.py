"""Vault: three keepers open a door together. Rules, version 1.

Each keeper knows a code of one digit, and has to dial the code of the next keeper (the last one that of the
first). So they have to talk. A keeper who has dialled the right code draws the bolt by cranking for four
steps. Meanwhile the keeper is not asked, but may stop, which loses the steps. The vault is open when all
three bolts are drawn. After `limit` steps the episode is cut off.

Refusals: unknown_seat, duplicate_seat, no_digit (not from 1 to 9), cranking (only stop is possible), drawn
(the bolt is drawn already), not_possible.

Figures: `bolts` that are drawn, and, from the log, `messages` that were sent.
"""
