"""The family interop: torch tensors as Warp arrays, and back."""
