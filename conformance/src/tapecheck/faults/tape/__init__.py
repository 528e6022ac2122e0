"""Faults and near misses of the family tape, a module beside each module of checks."""
