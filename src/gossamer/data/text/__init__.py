"""Numbers and dates in text, in the notations that people use."""

from gossamer.data.text.dates import DATE_ORDERS, date_orders, read_date
from gossamer.data.text.look import Notation, TextLook, TextOptions, find_notations
from gossamer.data.text.numbers import read_number

__all__ = [
    "DATE_ORDERS",
    "Notation",
    "TextLook",
    "TextOptions",
    "date_orders",
    "find_notations",
    "read_date",
    "read_number",
]
