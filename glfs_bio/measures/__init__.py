"""How well a panel serves: cells, labels and genes as it shows them."""
