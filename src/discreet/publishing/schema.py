"""The JSON Schema of ``release.yaml``, for editors and for programs that write one."""

import json

from discreet.publishing.file import ReleaseFile

__all__ = ["schema_text"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text() -> str:
    """Return the schema, generated from the models that read the file.

    >>> '"title": "release.yaml"' in schema_text()
    True
    """
    return json.dumps({"$schema": DIALECT, **ReleaseFile.model_json_schema()}, indent=2) + "\n"
