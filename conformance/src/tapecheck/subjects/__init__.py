"""What can be judged. A subject is what a check gets in its hands; a fault is a subject with something replaced."""
