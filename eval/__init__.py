"""Evaluation and calibration. Stands outside the product: nothing imports it."""
