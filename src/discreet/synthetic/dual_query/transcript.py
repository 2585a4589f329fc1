"""What was released so far, so that a long run can be stopped and continued.

The weights of the queries are a function of the data and must never be stored. They need not be: they are determined
by the records of the rounds so far, which are part of the release, and by the answers of the data, which are counted
again. So a transcript holds records and the name of the plan alone, and is as public as the release it is a part of.
Going on with the same data gives the law of a run that was never interrupted, and costs what that costs. Whoever goes
on twice from the same place pays twice for the rounds after it.
"""

import base64
import binascii
import json
import zlib
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput

__all__ = ["Transcript"]

KIND, VERSION = "discreet.dual-query.transcript", 1
MOST_BYTES = 1 << 34


@dataclass(frozen=True, slots=True, eq=False)
class Transcript:
    """The records of the rounds so far, and the fingerprint of the plan that they are of.

    >>> one = Transcript("ab12", np.array([[0, 1], [1, 1]], dtype=np.int32))
    >>> Transcript.from_json(one.to_json()).records.tolist()
    [[0, 1], [1, 1]]
    """

    plan: str
    records: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.records)

    def to_json(self) -> str:
        """Return it as JSON."""
        words = zlib.compress(self.records.astype("<i4").tobytes())
        record = {"kind": KIND, "version": VERSION, "plan": self.plan, "shape": list(self.records.shape)}
        return json.dumps({**record, "records": base64.b64encode(words).decode("ascii")})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote; anything else is refused."""
        try:
            record = json.loads(text)
            if record["kind"] != KIND or record["version"] != VERSION:
                raise ValueError
            rounds, attributes = (int(side) for side in record["shape"])
            size = 4 * rounds * attributes
            if rounds < 0 or attributes < 1 or size > MOST_BYTES:
                raise ValueError
            words = zlib.decompressobj().decompress(base64.b64decode(record["records"], validate=True), size + 1)
            if len(words) != size:
                raise ValueError
            codes = np.frombuffer(words, dtype="<i4").astype(np.int32).reshape(rounds, attributes)
            return cls(str(record["plan"]), codes)
        except (KeyError, TypeError, ValueError, AttributeError, binascii.Error, zlib.error):
            raise InvalidInput(
                f"this is no transcript of kind {KIND!r}, version {VERSION}, as to_json writes it."
            ) from None
