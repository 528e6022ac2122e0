"""Faults and near misses of the family interop, a module beside each module of checks."""
