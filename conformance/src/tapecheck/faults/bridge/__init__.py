"""Faults and near misses of the family bridge, planted in the miniature bridge."""
