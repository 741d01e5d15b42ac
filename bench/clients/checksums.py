"""What a table holds, independent of the order of its rows and of how its types are spelt on the wire."""

import duckdb


def checksums(rows):
    """`rows`: anything Arrow. The number of rows, and of each column its name and the sum of the hashes of its values."""
    connection = duckdb.connect(config={"threads": 2, "autoinstall_known_extensions": False})
    relation = connection.from_arrow(rows)
    sums = [
        f"sum(hash({as_compared(quoted(name), str(type_))}))::VARCHAR"
        for name, type_ in zip(relation.columns, relation.types)
    ]
    count, *values = relation.aggregate(", ".join(["count(*)", *sums])).fetchone()
    return {"rows": count, "columns": dict(zip(relation.columns, values))}


def as_compared(column, type_):
    """One may have nanoseconds where another has microseconds, or text in a dictionary."""
    if type_.startswith("TIMESTAMP"):
        return f"epoch_us({column})"
    if type_.startswith("ENUM"):
        return f"{column}::VARCHAR"
    return column


def quoted(name):
    return '"' + name.replace('"', '""') + '"'
