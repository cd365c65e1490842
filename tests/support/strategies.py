"""Anything that a server might send, more often than not nearly right."""

from __future__ import annotations

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(
    ["type", "enum", "enumNames", "oneOf", "anyOf", "allOf", "const", "title", "description", "default", "format"]
    + ["items", "$ref", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength"]
    + ["maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "not", "properties", "prefixItems"]
)
WORDS = st.sampled_from(
    ["string", "number", "integer", "boolean", "array", "object", "null", "email", "date", "#/$defs/a", "#", "a", ""]
)
VALUES = JSON | WORDS | st.lists(WORDS, max_size=3) | st.fixed_dictionaries({"const": WORDS, "title": WORDS})
PROPERTY = st.recursive(
    st.dictionaries(KEYWORDS, VALUES, max_size=5),
    lambda inner: st.dictionaries(KEYWORDS, VALUES | inner | st.lists(inner, max_size=3), max_size=4),
    max_leaves=5,
)
SCHEMA = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.text(max_size=4), PROPERTY, max_size=4)},
    optional={
        "type": st.just("object"),
        "required": st.lists(st.text(max_size=4), max_size=3),
        "$defs": st.dictionaries(st.just("a"), PROPERTY),
        "additionalProperties": st.booleans(),
    },
)
