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

WITH_VECTORS = {"bias": -6.04, "near": 4.29, "coverage": 13.59, "support": 9.91, "here": 1.14, "crowd": 0.8}
WORDS_ONLY = {"bias": -5.86, "near": 0.0, "coverage": 28.81, "support": 14.94, "here": 1.30, "crowd": 1.6}

# A share says little when the prompt does: "run the test" is found whole in any card about tests. So many nats of
# idf must be shared before a share counts half.
HALF_NATS = 8.0
# The number of cards that the coefficients were fitted on.
CROWD = 40


def relevance(
    near: float | None, coverage: float, support: float, prompt_weight: float, here: bool, cards: int = 0
) -> float:
    """Calibrated relevance, 0 to 1.

    Args:
        near: the cosine of prompt and card above the prompt's baseline, in `COSINE_UNIT`; None without vectors.
        coverage: share of the prompt's weight found anywhere in the card, 0 to 1.
        support: share found in its conclusion and other wordings, 0 to 1.
        prompt_weight: how much the prompt says, the sum of its terms' idf, in nats.
        here: the card is of the project that the turn is in.
        cards: how many cards could have been said. In a crowd a chance match is likelier, so the same match says
            less; below `CROWD` cards it does not matter.
    """
    c = WORDS_ONLY if near is None else WITH_VECTORS
    odds = c["bias"] + c["near"] * (near or 0.0) + c["here"] * here
    odds += c["coverage"] * informed(coverage, prompt_weight) + c["support"] * informed(
        support, prompt_weight
    )
    odds -= c["crowd"] * math.log(max(cards, CROWD) / CROWD)
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, odds))))


def informed(share: float, prompt_weight: float) -> float:
    """A share of the prompt's weight, discounted where the weight that is shared is small."""
    nats = share * prompt_weight
    return share * nats / (nats + HALF_NATS)


def unit(embedder: str) -> float:
    return COSINE_UNIT["e5" if "e5" in embedder.lower() else "other"]
