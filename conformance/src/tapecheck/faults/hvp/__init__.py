"""Faults and near misses of the family hvp."""
