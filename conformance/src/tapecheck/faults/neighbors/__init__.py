"""Faults and near misses of the family neighbors."""
