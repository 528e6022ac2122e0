"""The operators, a module each: a pair function and a declared interface around the one pair loop."""
