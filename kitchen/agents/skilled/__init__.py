"""What co-players that think in skills have in common (`kitchen.contract.skills`): their settings, the way to
the model, reading skills from its words, and carrying them out over the steps that they take.
"""
