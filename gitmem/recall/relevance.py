"""How likely a candidate helps with the prompt: one number from 0 to 1 that thresholds can be set on.

A raw cosine says little: one prompt lies near everything, another near nothing. So it is read against the
prompt's own baseline, its nearness to a few fixed sentences that carry no memory (`index/anchors.py`). That
holds in a memory of one card as in one of ten thousand.

PROVISIONAL: the coefficients are a logistic regression on invented cards and prompts (the `dev` half of
tests/fixtures/recall_cases.jsonl); they hold until they are calibrated on real turns. `eval/fit_relevance.py`
prints them.
"""

from __future__ import annotations

import math

# How far above its baseline a paraphrase lies, as a cosine: the E5 family packs its vectors close.
COSINE_UNIT = {"e5": 0.05, "other": 0.2}

WITH_VECTORS = {"bias": -5.97, "near": 3.61, "coverage": 2.39, "support": 5.51, "here": 1.30}
WORDS_ONLY = {"bias": -6.19, "near": 0.0, "coverage": 9.81, "support": 3.71, "here": 1.35}


def relevance(near: float | None, coverage: float, support: float, here: bool) -> float:
    """Calibrated relevance, 0 to 1.

    Args:
        near: the cosine of prompt and card above the prompt's baseline, in `COSINE_UNIT`; None without vectors.
        coverage: share of the prompt's weight found anywhere in the card, 0 to 1.
        support: share found in its conclusion and other wordings, 0 to 1.
        here: the card is of the project that the turn is in.
    """
    c = WORDS_ONLY if near is None else WITH_VECTORS
    odds = c["bias"] + c["near"] * (near or 0.0) + c["coverage"] * coverage + c["support"] * support + c["here"] * here
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, odds))))


def unit(embedder: str) -> float:
    return COSINE_UNIT["e5" if "e5" in embedder.lower() else "other"]
