"""The family kinds: which kinds of particles interact, judged through SPH operators."""
