"""The family abi: how an operator is declared and called, judged in a core."""
