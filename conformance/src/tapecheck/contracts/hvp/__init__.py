"""The family hvp: the position Hessian of the density times a vector, judged through SPH operators."""
