"""Executable contracts of NVIDIA Warp's tape, of `retain_grad` and of Warp/torch bridges, judged release by release."""

__version__ = "0.1.0"
