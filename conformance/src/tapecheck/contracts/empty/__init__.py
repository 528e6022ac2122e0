"""The family empty: populations without particles, and particles without neighbours, judged through SPH operators."""
