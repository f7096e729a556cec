"""As much of JSON Schema as the published schema of a table uses; any other keyword is an error."""

from __future__ import annotations

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
ABOUT = {"$schema", "$defs", "title", "description"}


def fits(value, schema, root):
    """Return True if ``value`` is what ``schema`` of the document ``root`` allows."""
    rules = {key: rule for key, rule in schema.items() if key not in ABOUT}
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, inner in value.items():
            wanted = known.get(name, schema.get("additionalProperties", {}))
            if wanted is False or not fits(inner, wanted, root):
                return False
    if isinstance(value, list) and not all(fits(i, schema.get("items", {}), root) for i in value):
        return False
    return all(KEYWORDS[key](value, rule, root) for key, rule in rules.items())


def _is(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool)


def _names(rule):
    return [rule] if isinstance(rule, str) else rule


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unique(value):
    return not isinstance(value, list) or len({str(each) for each in value}) == len(value)


KEYWORDS = {
    "$ref": lambda v, rule, root: fits(v, root["$defs"][rule.removeprefix("#/$defs/")], root),
    "type": lambda v, rule, _: any(
        _is(v, each) for each in ([rule] if isinstance(rule, str) else rule)
    ),
    "const": lambda v, rule, _: v == rule,
    "enum": lambda v, rule, _: v in rule,
    "anyOf": lambda v, rule, root: any(fits(v, each, root) for each in rule),
    "required": lambda v, rule, _: not isinstance(v, dict) or set(rule) <= set(v),
    "properties": lambda *_: True,  # with the next two, looked at above
    "additionalProperties": lambda *_: True,
    "items": lambda *_: True,
    "minItems": lambda v, rule, _: not isinstance(v, list) or len(v) >= rule,
    "uniqueItems": lambda v, rule, _: _unique(v) or not rule,
    "minimum": lambda v, rule, _: not _number(v) or v >= rule,
    "exclusiveMinimum": lambda v, rule, _: not _number(v) or v > rule,
    "maximum": lambda v, rule, _: not _number(v) or v <= rule,
}
