"""What vendors of targeted assays write and read: panels, orders, and names of genes."""
