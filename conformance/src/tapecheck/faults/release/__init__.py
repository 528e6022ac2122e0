"""Faults and near misses of the family release, a module beside each module of checks."""
