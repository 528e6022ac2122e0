"""The family bridge: a Warp kernel seen by torch.autograd, judged through probes."""
