"""How likely a candidate helps with the prompt: one number from 0 to 1 that thresholds can be set on.

A raw cosine says little: one prompt lies near everything, another near nothing. So it is read against the
prompt's own baseline, its nearness to a few fixed sentences that carry no memory (`index/anchors.py`). That
holds in a memory of one card as in one of ten thousand.

It is also the fusion of both retrievers: a weighted sum of what words and vectors say of a card, which orders better than
the sum of their reciprocal ranks and means the same in every memory. The coefficients are a logistic regression on the
`dev` halves of invented and real turns; `python -m eval.fit_relevance` prints them, docs/evaluation.md has the data, what else was tried,
and the figures on the halves that nothing was chosen by.
"""

from __future__ import annotations

import math

# One step above the baseline, as a cosine: the E5 family packs the texts of one language close. Across languages, what they share is taken off
# (`index/languages.py`) and vectors lie as wide apart as those of other models.
COSINE_UNIT = {"e5": 0.05, "other": 0.2}
ACROSS_UNIT = 0.2

WITH_VECTORS = {"bias": -5.30, "near": 3.35, "across": 5.16, "coverage": 5.22, "support": 10.53, "here": 1.06, "crossing": 0.57, "crowd": 0.83}  # fmt: skip
WORDS_ONLY = {"bias": -4.52, "near": 0.0, "across": 0.0, "coverage": 11.47, "support": 12.21, "here": 1.17, "crossing": 0.0, "crowd": 0.91}  # fmt: skip

# A share says little when the prompt does: "run the test" is found whole in any card about tests. So many nats of
# idf must be shared before a share counts half. 4 and 16 do about as well (docs/evaluation.md).
HALF_NATS = 8.0
# Memories up to so many cards, as the invented ones are, are no crowd.
CROWD = 40


def relevance(
    near: float | None,
    across: float,
    coverage: float,
    support: float,
    prompt_weight: float,
    here: bool,
    crossing: bool,
    cards: int = 0,
) -> float:
    """Calibrated relevance, 0 to 1.

    Args:
        near: the cosine of prompt and card above the prompt's baseline, in `unit`, as far as both are of one language; None without vectors.
        across: the same in `ACROSS_UNIT`, as far as they are of two.
        coverage: share of the prompt's weight found anywhere in the card, 0 to 1.
        support: share found in its conclusion and other wordings, 0 to 1.
        prompt_weight: how much the prompt says, the sum of its terms' idf, in nats.
        here: the card is of the project that the turn is in.
        crossing: prompt and card share neither a script nor a word, so that no share could speak for the card.
        cards: how many cards could have been said. In a crowd a chance match is likelier, so the same match says
            less; below `CROWD` cards it does not matter.
    """
    c = WORDS_ONLY if near is None else WITH_VECTORS
    odds = c["bias"] + c["near"] * (near or 0.0) + c["across"] * across
    odds += c["here"] * here + c["crossing"] * crossing
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
