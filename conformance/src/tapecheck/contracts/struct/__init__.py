"""The family struct."""
