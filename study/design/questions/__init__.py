"""Questions: their kinds, scales, questionnaires, order and scoring."""
