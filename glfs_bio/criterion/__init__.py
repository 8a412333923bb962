"""The criterion F for panels, and everything that it says of a panel."""
