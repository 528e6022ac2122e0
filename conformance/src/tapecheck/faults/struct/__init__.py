"""Faults and near misses of the family struct, a module beside each module of checks."""
