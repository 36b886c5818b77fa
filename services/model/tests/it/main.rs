//! The client against a scripted provider over real HTTP; the field cases by their ids.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod desk;
mod f01_tool_call_pieces;
mod f02_arguments;
mod f03_finish_reasons;
mod f04_broken_answers;
mod f05_bytes;
mod f06_reasoning;
mod refusals;
