"""Measure recall: does it say the right thing, and does it stay quiet when there is nothing to say?

`python -m eval run CONFIG.yaml`, then `python -m eval report DIR`. How and why: docs/evaluation.md.
"""
