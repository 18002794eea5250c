from __future__ import annotations

import copy
import json
import pickle

from agentcore.errors import ModelError
from agentcore.said import Said, as_json


def test_a_sentence_is_its_english_text_wherever_it_goes() -> None:
    said = Said("{count:,} of {unit}", count=1_200, unit="bytes")
    assert said == "1,200 of bytes"
    assert json.loads(json.dumps([said])) == ["1,200 of bytes"]
    assert f"no: {said}" == "no: 1,200 of bytes"


def test_an_error_keeps_the_sentence_that_it_is_made_of() -> None:
    said = str(ModelError(Said("{name} is gone", name="m")))
    assert isinstance(said, Said)
    assert (said.form, said.figures) == ("{name} is gone", {"name": "m"})


def test_a_copy_is_made_alike() -> None:
    said = Said("{text}; {way_out}", text="{odd}", way_out=Said("wait"))
    for copied in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert (copied, copied.figures) == ("{odd}; wait", said.figures)


def test_as_json_holds_how_it_was_made_with_secrets_masked_and_texts_cut() -> None:
    inner = Said("{text}", text="Authorization: Bearer sk-abcdefghijklmnop1234 " + "x" * 600)
    kept = as_json(Said("{error} in {count} tries", error=inner, count=3))
    assert json.loads(json.dumps(kept)) == kept
    text = kept["figures"]["error"]["figures"]["text"]
    assert "sk-abcdefghijklmnop" not in text and len(text) == 500
    assert kept["figures"]["count"] == 3
    assert as_json("just text") == {}
