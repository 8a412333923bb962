"""Which panel: greedy, within constraints, and with a bound."""
