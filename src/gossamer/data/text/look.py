"""Whether a column of text holds numbers or dates, found from its distinct values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gossamer.data.text.dates import date_orders, read_date
from gossamer.data.text.numbers import match_number, read_number

# Words for a missing value among numbers and dates, in lower case.
_WORDS: Final = frozenset(
    {
        *("", "-", "--", "---", "\u2013", "\u2014", "?", "??", ".", "..", "...", "*"),
        *("na", "n/a", "n.a.", "n.a", "n. a.", "n.d.", "nan", "none", "null", "nil", "k.a.", "k.a"),
        *("missing", "unknown", "not available", "not applicable", "#n/a", "#na", "#value!"),
        *("#div/0!", "#ref!", "#null!", "#num!", "<na>", "(null)", "\\n", "tbd"),
    }
)
# Values that are not numbers get a warning if at least this share of the column is.
NEARLY: Final = 0.9
# A column is not looked at any further if fewer of its first values are numbers or dates.
_FIRST: Final = 500
_MOST_ODD: Final = 1000


@dataclass(frozen=True)
class TextOptions:
    """What the user said about the text in files.

    Attributes:
        decimal: The decimal sign, "." or ","; None: found out.
        dates: The order of day, month and year, "dmy", "mdy" or "ymd"; "none": dates are text;
            None: found out.
        na: Further words for a missing value.
        encoding: The encoding of text files; None: found out.
    """

    decimal: str | None = None
    dates: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True)
class Notation:
    """How a column of text writes numbers or dates.

    Attributes:
        kind: "number", "date" or "time" (of day).
        how: The decimal sign of numbers, the order of dates.
        note: A line about it, as "numbers with decimal commas".
        doubt: What may be wrong about it, and which option says so; empty: nothing.
        na: Further words for a missing value.
    """

    kind: str
    how: str
    note: str = ""
    doubt: str = ""
    na: tuple[str, ...] = ()

    def read(self, text: str) -> float | None:
        """Return a value as a number (of seconds); NaN where it is missing.

        Returns:
            None where the text is neither.
        """
        number = read_number(text, self.how) if self.kind == "number" else read_date(text, self.how)
        if number is None and is_missing_word(text, self.na):
            return float("nan")
        return number


def is_missing_word(text: str, na: Iterable[str] = ()) -> bool:
    """Whether a text among numbers or dates says that the value is missing.

    Example:
        >>> is_missing_word(" n.a. "), is_missing_word("-"), is_missing_word("Rome")
        (True, True, False)
    """
    return text.strip().lower() in _WORDS or text.strip() in na


@dataclass
class TextLook:
    """Counts what the values of a column of text may be, some rows at a time.

    Args:
        options: What the user said.

    Example:
        >>> look = TextLook(TextOptions())
        >>> look.add({"1,5": 3, "n.a.": 1})
        >>> look.notation("price").note
        'numbers with decimal commas; missing: n.a.'
    """

    options: TextOptions
    n: int = 0
    numbers: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    n_dates: int = 0
    n_ambiguous: int = 0
    n_numbers: int = 0
    signs: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    short_years: bool = False
    is_text: bool = False
    _n_distinct: int = 0

    def add(self, counts: Mapping[str, int]) -> None:
        """Look at some rows: distinct values and how often each appears."""
        for text, count in counts.items():
            if self.is_text:
                return
            self._add_one(text, count)
            self._n_distinct += 1
            if self._n_distinct == _FIRST and max(self.n_numbers, self.n_dates) < self.n / 2:
                self.is_text = True

    def _add_one(self, text: str, count: int) -> None:
        if is_missing_word(text, self.options.na):
            self.words[text.strip()] += count
            return
        self.n += count
        found = {d: m for d in ".," if (m := match_number(text, d)) is not None}
        for decimal, match in found.items():
            self.numbers[decimal] += count
            if match["group"]:
                self.signs[f"thousands {decimal}{match['group']}"] += count
            if decimal in match["number"]:
                self.signs[f"decimal {decimal}"] += count
        if found:
            self.n_numbers += count
            match = next(iter(found.values()))
            self.units[match["before"] or match["after"] or ""] += count
            self.n_ambiguous += count * (len(found) == 2 and any(c in text for c in ".,"))
            return
        orders = date_orders(text)
        if orders:
            self.n_dates += count
            for order in orders:
                self.dates[order] += count
            return
        if len(self.odd) < _MOST_ODD or text in self.odd:
            self.odd[text] += count
        else:
            self.is_text = True

    @property
    def certain_decimal(self) -> str | None:
        """The decimal sign that only one reading of the numbers allows."""
        if self.is_text or not self.n or self.n_numbers < self.n:
            return None
        fits = [decimal for decimal in ".," if self.numbers[decimal] == self.n]
        return fits[0] if len(fits) == 1 else None

    @property
    def certain_order(self) -> str | None:
        """The order of day and month that only one reading of the dates allows."""
        if self.is_text or not self.n or self.n_dates < self.n:
            return None
        fits = [order for order in ("dmy", "mdy") if self.dates[order] == self.n]
        return fits[0] if len(fits) == 1 else None

    def notation(
        self, name: str, decimal: str | None = None, order: str | None = None, guess: str = "."
    ) -> Notation | None:
        """Decide how the column is written.

        Args:
            name: The column.
            decimal: The decimal sign of other columns, if they say so for certain.
            order: The order of day and month of other columns, if they say so for certain.
            guess: The decimal sign to assume where nothing says so.

        Returns:
            The notation; None: the column is text. See `warning` for why.
        """
        if self.is_text or not (self.n or self.words):
            return None
        if not self.n:
            return Notation("number", ".", f"all missing{self._missing_note()[1:]}", "", self._na())
        if self.n_numbers == self.n and not self._mixed_units():
            return self._number_notation(name, decimal, guess)
        if self.n_dates == self.n and self.options.dates != "none":
            return self._date_notation(order)
        return None

    def _number_notation(self, name: str, decimal: str | None, guess: str) -> Notation | None:
        fits = [sign for sign in ".," if self.numbers[sign] == self.n]
        if not fits:
            return None
        doubt = ""
        if self.options.decimal in fits:
            sign = str(self.options.decimal)
        elif len(fits) == 1:
            sign = fits[0]
        else:
            sign = decimal or guess
            if self.n_ambiguous and decimal is None:
                other = "," if sign == "." else "."
                doubt = (
                    f"column {name!r}: numbers with one separator before three digits may be "
                    f"thousands or decimals; they are read with the decimal sign {sign!r}. "
                    f"If that is wrong: --decimal {other!r}; to confirm it: --decimal {sign!r}"
                )
        return Notation("number", sign, self._number_note(sign), doubt, self.options.na)

    def _number_note(self, sign: str) -> str:
        parts = []
        if self.signs["decimal ,"] and sign == ",":
            parts.append("decimal commas")
        groups = [s[-1] for s in self.signs if s.startswith(f"thousands {sign}")]
        if groups:
            shown = ", ".join("blanks" if g.isspace() else repr(g) for g in sorted(groups))
            parts.append(f"thousands separators ({shown})")
        units = [unit for unit in self.units if unit]
        if units:
            parts.append(f"the unit {', '.join(units)}")
        note = f"numbers with {' and '.join(parts)}" if parts else "numbers"
        return note + self._missing_note()

    def _date_notation(self, order: str | None) -> Notation | None:
        fits = [o for o in ("time", "ymd", "dmy", "mdy") if self.dates[o] == self.n]
        if not fits:
            return None
        if fits[0] == "time":
            return Notation("time", "time", "times of day" + self._missing_note(), "", self._na())
        wanted = self.options.dates or order
        if "ymd" in fits or len(fits) == 1:
            chosen = fits[0]
        elif wanted in fits:
            chosen = str(wanted)
        else:
            return None
        words = {"ymd": "dates", "dmy": "dates, day first", "mdy": "dates, month first"}
        return Notation("date", chosen, words[chosen] + self._missing_note(), "", self._na())

    def _na(self) -> tuple[str, ...]:
        return self.options.na

    def _missing_note(self) -> str:
        words = [word for word, _ in self.words.most_common(5) if word]
        return f"; missing: {', '.join(words)}" if words else ""

    def _mixed_units(self) -> bool:
        units = {unit.strip(".") for unit in self.units if unit}
        return len(units) > 1 or ("%" in units and self.units[""] > 0)

    def warning(self, name: str, nearly: float = NEARLY) -> str:
        """Return why a column that looks like numbers or dates is text; empty: it does not.

        Args:
            name: The column.
            nearly: The share of values that must be numbers or dates.
        """
        if self.is_text or not self.n:
            return ""
        if self.n_numbers == self.n and self._mixed_units():
            shown = ", ".join(repr(unit) for unit in self.units)
            return (
                f"column {name!r} is read as text: its numbers have different units ({shown}). "
                "Write them in one unit first, or as missing values: --na"
            )
        share = max(self.n_numbers, self.n_dates) / self.n
        what = "numbers" if self.n_numbers >= self.n_dates else "dates"
        if share < nearly:
            return ""
        if what == "dates" and self.options.dates == "none":
            return ""
        if share < 1:
            rest = self.odd or {"dates": self.n_dates, "numbers": self.n_numbers}
            words = [text for text, _ in Counter(rest).most_common(3)]
            return (
                f"column {name!r} is read as text: {share:.1%} of its values are {what}, but not "
                f"{', '.join(map(repr, words))}. If these mean a missing value: "
                f"--na {','.join(words)!r}"
            )
        if what == "dates":
            return (
                f"column {name!r} is read as text: its dates may have the day or the month first. "
                "Say which: --parse-dates dmy or --parse-dates mdy (--parse-dates none keeps text)"
            )
        return (
            f"column {name!r} is read as text: some of its numbers have decimal commas, others "
            "decimal points. Say which sign is the decimal one: --decimal ',' or --decimal '.'"
        )


def find_notations(
    looks: Mapping[str, TextLook], guesses: Mapping[str, str] | None = None
) -> tuple[dict[str, Notation], dict[str, str]]:
    """Decide how the columns of a table are written; certain columns help with the others.

    Args:
        looks: By the name of the column.
        guesses: The decimal sign to assume for a column where nothing says so; else ".".

    Returns:
        The notations by column, and warnings by column.

    Example:
        >>> looks = {"price": TextLook(TextOptions()), "size": TextLook(TextOptions())}
        >>> looks["price"].add({"1,5": 1, "2,75": 1})
        >>> looks["size"].add({"1.234": 2})
        >>> found, warnings = find_notations(looks)
        >>> found["size"].read("1.234"), warnings
        (1234.0, {})
    """
    decimals = {look.certain_decimal for look in looks.values()} - {None}
    orders = {look.certain_order for look in looks.values()} - {None}
    decimal = decimals.pop() if len(decimals) == 1 else None
    order = orders.pop() if len(orders) == 1 else None
    notations, warnings = {}, {}
    for name, look in looks.items():
        found = look.notation(name, decimal, order, (guesses or {}).get(name, "."))
        text = look.warning(name) if found is None else found.doubt
        if found is not None:
            notations[name] = found
        if text:
            warnings[name] = text
    return notations, warnings
