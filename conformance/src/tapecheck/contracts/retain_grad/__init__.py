"""The family retain-grad."""
