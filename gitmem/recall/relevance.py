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

# One step above the baseline, as a cosine of centred vectors (`index/centres.py`): a paraphrase that shares no word with
# its card lies half a step to a step above.
UNIT = 0.2

WITH_VECTORS = {"bias": -5.16, "near": 3.95, "coverage": 2.88, "support": 11.09, "here": 1.18, "crossing": 0.97, "crowd": 0.95}  # fmt: skip
WORDS_ONLY = {"bias": -4.51, "near": 0.0, "coverage": 11.51, "support": 12.20, "here": 1.15, "crossing": 0.0, "crowd": 0.91}  # fmt: skip

# A share says little when the prompt does: "run the test" is found whole in any card about tests. So many nats of
# idf must be shared before a share counts half. 4 and 16 do about as well (docs/evaluation.md).
HALF_NATS = 8.0
# A card whose superseded card matched as well has two wordings that speak for it. Chosen on the `dev` half of decision records: the least
# that puts each live successor before its neighbours of the same title.
CHAIN = 0.6
# Memories up to so many cards, as the invented ones are, are no crowd.
CROWD = 40


def relevance(
    near: float | None,
    coverage: float,
    support: float,
    prompt_weight: float,
    here: bool,
    crossing: bool,
    chained: bool = False,
    cards: int = 0,
) -> float:
    """Calibrated relevance, 0 to 1.

    Args:
        near: the cosine of prompt and card above the prompt's baseline, in `UNIT`; None without vectors.
        coverage: share of the prompt's weight found anywhere in the card, 0 to 1.
        support: share found in its conclusion and other wordings, 0 to 1.
        prompt_weight: how much the prompt says, the sum of its terms' idf, in nats.
        here: the card is of the project that the turn is in.
        crossing: prompt and card share neither a script nor a word, so that no share could speak for the card.
        chained: a card that it supersedes matched, too.
        cards: how many cards could have been said. In a crowd a chance match is likelier, so the same match says
            less; below `CROWD` cards it does not matter.
    """
    c = WORDS_ONLY if near is None else WITH_VECTORS
    odds = c["bias"] + c["near"] * (near or 0.0) + c["here"] * here + c["crossing"] * crossing
    odds += c["coverage"] * informed(coverage, prompt_weight) + c["support"] * informed(
        support, prompt_weight
    )
    odds += CHAIN * chained
    odds -= c["crowd"] * math.log(max(cards, CROWD) / CROWD)
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, odds))))


def informed(share: float, prompt_weight: float) -> float:
    """A share of the prompt's weight, discounted where the weight that is shared is small."""
    nats = share * prompt_weight
    return share * nats / (nats + HALF_NATS)
