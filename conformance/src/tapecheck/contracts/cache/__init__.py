"""The family cache: views, structs and placeholders that are used again, judged in a core."""
