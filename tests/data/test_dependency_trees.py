from __future__ import annotations

import doctest

import dependency_trees
import speaker
from dependency_trees import Node, conllu, text, words


def test_sentence_by_hand() -> None:
    the = Node("the", "the", "DET", "det")
    inside = Node("in", "in", "ADP", "case", contracted="inth")
    place = Node("fronds", "frond", "NOUN", "obl", "Number=Plur", before=[inside, the])
    subject = Node("it", "it", "PRON", "nsubj")
    stop = Node(".", ".", "PUNCT", "punct")
    root = Node("sat", "sit", "VERB", "root", before=[place, subject], after=[stop])
    assert conllu(words(root), sent_id="d-1") == (
        "# sent_id = d-1\n"
        "# text = Inth fronds it sat.\n"
        "1-2\tInth\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tIn\tin\tADP\t_\t_\t3\tcase\t_\t_\n"
        "2\tthe\tthe\tDET\t_\t_\t3\tdet\t_\t_\n"
        "3\tfronds\tfrond\tNOUN\t_\tNumber=Plur\t5\tobl\t_\t_\n"
        "4\tit\tit\tPRON\t_\t_\t5\tnsubj\t_\t_\n"
        "5\tsat\tsit\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_\n"
        "\n"
    )


def test_no_space_before_punctuation_and_none_lost_after_it() -> None:
    comma, stop = (Node(sign, sign, "PUNCT", "punct") for sign in ",.")
    second = Node("left", "leave", "VERB", "conj", before=[comma])
    root = Node("came", "come", "VERB", "root", after=[second, stop])
    assert text(words(root)) == "Came, left."
    assert [word.head for word in words(root)] == [0, 3, 1, 1]


def test_examples() -> None:
    for module in (dependency_trees, speaker):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
