"""Faults and near misses of the family sync, planted in the miniature bridge."""
