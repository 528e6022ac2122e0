"""A hunt for kernels whose adjoint is wrong: many small kernels, every release, against differences in double."""
