"""The family neighbors: who is near whom."""
