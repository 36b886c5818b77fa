//! A release carries the page: it is built anew when the page was. A build for development reads the page's folder.

fn main() {
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo::rerun-if-changed={}", if is_release { "ui/dist" } else { "build.rs" });
}
