"""The family codegen."""
