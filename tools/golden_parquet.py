"""Writes crates/ermine-core/tests/golden/parquet/: one table of every readable type, as pyarrow writes it with each codec and page format; and a file of a billion rows for the command line's tests.

Parquet files name the program that wrote them and its version, so no header is added.
"""

import datetime as dt
import decimal

import golden_file
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

UTC = dt.timezone.utc


def table():
    """Three rows, of which the middle one is missing everywhere."""
    columns = {
        "i8": pa.array([-3, None, 5], pa.int8()),
        "u32": pa.array([4_000_000_000, None, 1], pa.uint32()),
        "i64": pa.array([-3, None, 2**53], pa.int64()),
        "u64": pa.array([2**63, None, 1], pa.uint64()),
        "f16": pa.array([np.float16(-1.5), None, np.float16(6e-8)], pa.float16()),
        "f32": pa.array([0.1, None, 2.0], pa.float32()),
        "f64": pa.array([0.1, None, -np.inf], pa.float64()),
        "truth": pa.array([True, None, False]),
        "text": pa.array(["z", None, "ü"]),
        "large": pa.array(["z", None, "y"], pa.large_string()),
        "dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
        "date": pa.array([dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)]),
        "ms": pa.array([1500, None, 0], pa.timestamp("ms")),
        "us": pa.array([dt.datetime(1970, 1, 1, 1, tzinfo=UTC), None, dt.datetime(1970, 1, 2, tzinfo=UTC)], pa.timestamp("us", "Europe/Paris")),
        "ns": pa.array([1_500_000_000, None, 0], pa.timestamp("ns")),
        "time": pa.array([dt.time(0, 1, 0, 500_000), None, dt.time(1)]),
        "price": pa.array([decimal.Decimal("19.99"), None, decimal.Decimal("-0.05")], pa.decimal128(7, 2)),
        "wide": pa.array([decimal.Decimal("-12345678901234567890.5"), None, decimal.Decimal("0.1")], pa.decimal128(30, 1)),
        "huge": pa.array([decimal.Decimal(10) ** 60, None, -(decimal.Decimal(10) ** 60)], pa.decimal256(70, 2)),
        "nothing": pa.nulls(3),
    }
    return pa.table(columns)


def write_billion_rows(path):
    """A few kilobytes that claim, and hold, a billion rows of two numbers."""
    rows = 50_000_000
    part = pa.table({"a": np.zeros(rows, np.int8), "b": np.ones(rows, np.int8)})
    one_page = {"data_page_size": 1 << 30, "max_rows_per_page": rows, "write_batch_size": 1 << 20}
    with pq.ParquetWriter(path, part.schema, compression="zstd", write_statistics=False, **one_page) as writer:
        for _ in range(20):
            writer.write_table(part, row_group_size=rows)


def main():
    folder = golden_file.ROOT / "crates/ermine-core/tests/golden/parquet"
    folder.mkdir(exist_ok=True)
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
        pq.write_table(table(), folder / f"{codec}.parquet", compression=codec, row_group_size=2)
    pq.write_table(table(), folder / "pages2.parquet", data_page_version="2.0", use_dictionary=False, row_group_size=2)
    pq.write_table(table().select(["us", "ms"]), folder / "int96.parquet", use_deprecated_int96_timestamps=True)
    lists = pa.table({"x": [1, 2], "tags": [[1], None], "point": [{"a": 1}, None], "raw": [b"\xff", None]})
    pq.write_table(lists, folder / "nested.parquet")
    write_billion_rows(golden_file.ROOT / "crates/ermine-cli/tests/data/billion_rows.parquet")


if __name__ == "__main__":
    main()
