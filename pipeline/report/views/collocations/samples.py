"""Which judgements a section rests on, in words: all candidates, or what kind of sample."""

from __future__ import annotations

from pipeline.findings.stage import StageView

_SAMPLES = {
    "sample.random": "a random sample",
    "sample.stratified": "a stratified sample",
    "sample.design": "a designed sample",
    "sample.judged": "what is judged",
}


def of_sample(stage: StageView) -> str:
    """Return what a stage's judgements are of.

    Examples
    --------
    >>> of_sample(StageView("full", "evaluate.precision", {}, print))
    'all candidates judged'
    >>> sample = StageView("tenth", "sample.random", {"rate": 0.1, "replacement": True}, print)
    >>> of_sample(StageView("sampled", "evaluate.precision", {}, print,
    ...           inputs={"sample": "tenth.sample"}, among={"tenth": sample}))
    'a random sample of 10 %, with replacement'
    >>> sample = StageView("drawn", "sample.design", {"rate": 0.3, "size": 528}, print)
    >>> of_sample(StageView("answers", "evaluate.designed", {}, print,
    ...           inputs={"sample": "drawn.sample"}, among={"drawn": sample}))
    'a designed sample of 528'
    """
    if "sample" not in stage.inputs:
        return "all candidates judged"
    sample = stage.given("sample")
    if sample is None:
        return stage.inputs["sample"].partition(".")[0].replace("_", " ")
    size = _size(sample)
    replaced = ", with replacement" if sample.config.get("replacement") else ""
    return f"{_SAMPLES.get(sample.use, sample.name)}{size}{replaced}"


def _size(sample: StageView) -> str:
    designed = sample.use == "sample.design"  # its rate is that of true positives
    rate, size = None if designed else sample.config.get("rate"), sample.config.get("size")
    sizes = sample.config.get("sizes")
    if rate:
        return f" of {100 * rate:g} %"
    if size or sizes:
        return f" of {size or sum(sizes or ()):,}"
    return ""


def of_set(stage: StageView) -> str:
    """Return the name of the set that a stage looks at.

    Examples
    --------
    >>> of_set(StageView("filter", "evaluate.subset", {"name": "frequent"}, print))
    'frequent'
    """
    return str(stage.config.get("name") or stage.name.replace("_", " "))
