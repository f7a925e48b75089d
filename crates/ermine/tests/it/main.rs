//! One test binary: the contract that every learner keeps, and whole ways through the house.

mod contract;
mod stump;
