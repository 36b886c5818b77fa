//! Killing processes and servers at exact places while conversations are under way, and what must hold afterwards.
//!
//! A [`Crew`] is an installation with a process for each role. A [`Point`] says who dies where; [`run`] lets one
//! happen and checks journal, stream, the three stores, the engine's containers and the transcript of the screen
//! against those of an undisturbed run. The places are in the product behind its feature `failpoints`.

mod check;
mod crew;
mod person;
mod point;
mod run;
mod stack;
mod tale;
mod transcript;

pub use crew::Crew;
pub use person::{Person, Walked};
pub use point::{POINTS, Point, Trouble, Victim};
pub use run::{Report, run};
pub use stack::Stack;
pub use tale::Tale;
