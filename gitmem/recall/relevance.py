"""How likely a candidate helps with the prompt: one number from 0 to 1 that thresholds can be set on.

PROVISIONAL: the coefficients were fitted on invented cards and prompts (tests/fixtures/recall_cases.jsonl, the
`dev` half); they hold until they are calibrated on real turns. `eval/fit_relevance.py` prints them.
"""

from __future__ import annotations

import math

# An e5 cosine of unrelated texts lies near 0.80; of a text and its paraphrase near 0.90.
COSINE_ZERO, COSINE_UNIT = 0.82, 0.05

# log-odds = bias + cosine * x + coverage * y + support * z
WITH_VECTORS = {"bias": -3.6, "cosine": 1.6, "coverage": 2.6, "support": 2.2}
WORDS_ONLY = {"bias": -2.6, "coverage": 3.2, "support": 2.4}


def relevance(cosine: float | None, coverage: float, support: float) -> float:
    """Calibrated relevance, 0 to 1.

    Args:
        cosine: of prompt and card, -1 to 1; None where there are no vectors.
        coverage: share of the prompt's weight found anywhere in the card, 0 to 1.
        support: share found in its conclusion and other wordings, 0 to 1.
    """
    if cosine is None:
        c = WORDS_ONLY
        odds = c["bias"] + c["coverage"] * coverage + c["support"] * support
    else:
        c = WITH_VECTORS
        near = (cosine - COSINE_ZERO) / COSINE_UNIT
        odds = c["bias"] + c["cosine"] * near + c["coverage"] * coverage + c["support"] * support
    return 1.0 / (1.0 + math.exp(-odds))
