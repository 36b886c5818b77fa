//! The Docker driver on a real engine, each test with containers of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod docker {
    pub(crate) mod bench;

    mod confinement;
    mod endings;
    mod leftovers;
    mod output;
    mod programs;
}
