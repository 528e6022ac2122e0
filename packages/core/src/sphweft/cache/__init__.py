"""Caches keyed to the identity of an object, never to an address."""
