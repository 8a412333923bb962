"""How an objective is minimised: greedily, or along λ."""
