"""The family release: what an upgrade can break besides gradients."""
