"""Define the tables of the export: one module for each table or group of related tables."""
