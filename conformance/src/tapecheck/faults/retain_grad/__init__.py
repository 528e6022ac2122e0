"""Faults and near misses of the family retain-grad, a module beside each module of checks."""
