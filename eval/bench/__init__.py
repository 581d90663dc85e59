"""How long things take and how much memory they need, as multiples measured side by side in one run."""
