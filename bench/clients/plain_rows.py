import datetime
import decimal


def plain_rows(rows):
    """As text, sorted: the order of rows that compare equal is nobody's promise."""
    return sorted([plain(value) for value in row] for row in rows)


def plain(value):
    """Numbers to ten digits: an average is a double here and a decimal there. Dates as text."""
    if isinstance(value, (int, float, decimal.Decimal)):
        return f"{float(value):.10g}"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()[:10]
    return str(value).rstrip()
