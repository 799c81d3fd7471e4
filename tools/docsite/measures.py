"""The page of every measure: what it says, its arithmetic worked on one list, its traps, who does it otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from assay.measures.family import Family
from assay.measures.spec import FAMILIES, parse_measure
from assay.measures.worked import work
from docsite.words import MARK, plain

RANKED = ("d9", "d1", "d2", "d8", "d3")
GRADES = {"d1": 1, "d2": 3, "d3": 2, "d4": 1, "d8": 0}
OPTIONS = {
    "rel": "`rel=2`: the least grade that counts as relevant",
    "gain": "`gain=exp`: a grade earns 2^grade - 1, not itself",
    "capped": "`capped=true`: divides by what k places can hold",
    "p": "`p=0.9`: how likely the reader goes on to the next rank (0.8)",
    "beta": "`beta=2`: how much more recall weighs than precision (1)",
    "max": "`max=3`: the highest grade of the scale (4)",
}
OTHERS: Mapping[str, str] = {
    "nDCG": "LlamaIndex takes the ideal over all that is relevant, whatever the cut: with 8 relevant and 5 returned, a "
    "perfect list scores below 1 there. Some tutorials take it over what was returned, or over k places. Burges' "
    "gain (2^grade - 1) is `gain=exp`; ranx calls it `ndcg_burges`, and its `ndcg` is the linear one.",
    "recall": "DeepEval's and Ragas' contextual recall are the share of a reference answer's sentences that a model "
    "attributes to the context: another quantity. Some dashboards divide by min(k, relevant): `capped=true`.",
    "precision": "LlamaIndex and Ragas' id-based precision divide by how many came back, not by k: one right of two "
    "returned is 0.5 there, and 0.1 at k = 10 here.",
    "hit": "LlamaIndex' `use_granular_hit_rate` is recall. ranx, ir-measures (`Success@k`) and trec_eval (`success_k`) "
    "agree.",
    "RR": "trec_eval's `recip_rank` has no cut. BEIR's MRR is a mean over all judged queries, while its other means "
    "are over queries in both files. LlamaIndex' `use_granular_mrr` averages over every relevant hit that was found.",
    "AP": "Ragas' and DeepEval's context precision divide by how many relevant ones were returned, not by all that "
    "are relevant: never lower than AP, and blind to what was missed. `capped=true` divides by min(k, relevant).",
    "F1": "Here: per query, then the mean. The F1 of the mean precision and mean recall is another number.",
    "complete": "Others call it full recall, or all-or-nothing; HotpotQA's joint scores need it for both supports.",
    "Rprec": "As everywhere.",
    "DCG": "As in ranx' `dcg` and trec_eval's idea of gains; not comparable between queries.",
    "bpref": "trec_eval, pytrec_eval and ir-measures agree; it needs judged non-relevant documents.",
    "judged": "ir-measures breaks ties upwards for `Judged@k`.",
    "RBP": "trec_eval 10 weighs grades above 1, with p = 0.9; ir-measures has p = 0.8 and a `rel`, as here.",
    "RBPresidual": "Only here: what unjudged hits could still add to RBP.",
    "ERR": "gdeval's ERR reads grades on a scale of 4, as the default here; other scales need `max`.",
    "infAP": "trec_eval and pytrec_eval agree.",
    "SetP": "trec_eval's `set_P`: the whole list as a set.",
    "SetR": "trec_eval's `set_recall`.",
    "SetF": "trec_eval's `set_F`; scikit-learn's `fbeta_score` has the same beta.",
}
"""Family -> who computes it otherwise, or that nobody does."""


def pages() -> dict[str, str]:
    """Return the one page."""
    parts = [MARK, "# Every measure\n", _INTRODUCTION, _overview()]
    parts += [_family(family) for family in FAMILIES]
    parts.append(_SPANS)
    return {"reference/measures.md": "\n".join(parts)}


def _overview() -> str:
    lines = ["| measure | other spellings | cut | what it says |", "|---|---|---|---|"]
    lines += [
        f"| [`{family.name}`](#{_anchor(family)}) | {', '.join(f'`{name}`' for name in family.aliases)} "
        f"| {family.cut} | {plain(family.description)} |"
        for family in FAMILIES
    ]
    return "\n".join(lines) + "\n"


def _anchor(family: Family) -> str:
    return family.name.lower()


def _family(family: Family) -> str:
    top = "no bound" if family.high is None else f"{family.high:g}"
    options = "; ".join(OPTIONS[name] for name in family.options) or "none"
    return "\n".join(
        [
            f"## {family.name}\n",
            plain(family.description) + "\n",
            "| | |",
            "|---|---|",
            f"| spellings | {', '.join(f'`{name}`' for name in (family.name, *family.aliases))}; cut: {family.cut} |",
            f"| range | 0 to {top}, {family.better} is better |",
            f"| no value | when {plain(family.undefined)} |",
            f"| ceiling | {plain(family.ceiling)} |",
            f"| several anchors in one hit | {plain(family.shared_ranks)} |",
            f"| options | {options} |",
            f"| source | {plain(family.source)} |",
            f"| others | {OTHERS[family.name]} |\n",
            f"```text\n{worked(family)}\n```\n",
        ]
    )


def worked(family: Family) -> str:
    """Return the arithmetic of a family on the page's list."""
    spelling = family.name if family.cut == "none" else f"{family.name}@5"
    return "\n".join(work(RANKED, GRADES, parse_measure(spelling)).lines())


_INTRODUCTION = f"""
Each is written as the field writes it: a name, options in brackets, a cut (`nDCG(gain=exp)@10`, `R@5`, `MRR@10`).
One definition each, whatever the backend, held in the tests against scorers that others wrote.

The arithmetic below is of one list, `{" ".join(RANKED)}`, where d2 has grade 3, d3 grade 2, d1 and d4 grade 1, and d8 was
judged and is not relevant. `assay explain QUERY` prints the same for any query of your own. [Where other tools
differ](../differences.md) shows each difference with an input.

Every mean is over queries (macro). A query with nothing relevant has no value, leaves the mean and is counted;
one that returned nothing scores 0.
"""
_SPANS = """
## Characters of evidence

Over the union of what was retrieved against the union of the anchors' places: **recall** is the share of the
evidence that was retrieved, **precision** the share of what was retrieved that is evidence, **IoU** overlap / union;
**precision-omega** is the precision if exactly the chunks that touch an anchor were retrieved: the best that a
chunking allows. They compare chunkers fairly where counts of chunks do not. Source: Smith and Troynikov, Evaluating
Chunking Strategies for Retrieval, Chroma (2024), who take the ranges per query as here.

## Within a budget of tokens

`budgets = [1000, 2000, 4000]` under `[measure]` tells the recall of what fits into a prompt of so many tokens: lists of
small chunks and of large ones on one scale. It is the number to compare when chunk sizes differ.
"""
