"""Smoothing functions: one table declares them, everything else is derived from it."""
