"""A small world on the default page: commands with an amount, an observation with tables."""
