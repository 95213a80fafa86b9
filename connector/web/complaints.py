"""What pydantic finds wrong, in the words of whoever sent the JSON."""

from __future__ import annotations

from typing import Any

# pydantic's name of the fault: what is said of the place; {braces} are filled from the fault
_WORDS = {
    "bool_type": "must be true or false",
    "datetime_type": "must be a time such as 2026-10-15T12:00:00Z",
    "dict_type": "must be an object",
    "enum": "must be {expected}",
    "extra_forbidden": "there is no such field",
    "float_type": "must be a number",
    "greater_than_equal": "must be {ge} or more",
    "int_from_float": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be {le} or less",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is needed",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "string_too_long": "may have {max_length} characters at most",
    "string_type": "must be text",
    "too_long": "may have {max_length} items at most",
}


def reason(fault: Any) -> str:
    """Say what is wrong with the place that an item of ``ValidationError.errors()`` is about."""
    context = fault.get("ctx", {})
    match fault["type"]:
        case "string_too_short":
            return f"needs at least {_counted(context['min_length'], 'character')}"
        case "too_short":
            return f"needs at least {_counted(context['min_length'], 'item')}"
        case kind if kind in _WORDS:
            return _WORDS[kind].format(**context)
    return str(fault["msg"]).removeprefix("Value error, ")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
