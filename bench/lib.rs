//! The programs that the benchmarks run are in `examples`.
