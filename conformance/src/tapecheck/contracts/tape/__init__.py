"""The family tape."""
