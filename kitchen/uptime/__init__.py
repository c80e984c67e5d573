"""When we were there: signs of life, and the outages that they tell of."""
