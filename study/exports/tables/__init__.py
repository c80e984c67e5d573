"""Define the tables of the data export: one module for each table or group of related tables."""
