"""The family jvp: derivatives along directions, by dual tensors and by an explicit call."""
