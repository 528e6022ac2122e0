"""Deliberate faults and near misses: the proof that each check can fail, and that it fails for its own reason alone.

A plant takes a subject and gives back that subject with something replaced. A fault breaks exactly the mechanism of the
contract that it serves (of three contracts at most); a near miss changes something beside it. Plants build on the names
of the subject they are given, never on Warp itself, so that they can be combined.
"""
