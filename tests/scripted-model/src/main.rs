//! `oxagen-scripted-model`: the scripted model provider as a program.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Context;
use clap::Parser;
use oxagen_scripted_model::{Script, ScriptedModel};

/// A model provider that says what a script tells it; for demos and tests.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Options {
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:4010")]
    listen: SocketAddr,
    /// A file with the script to begin with; `PUT /__script` replaces it
    #[arg(long)]
    script: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let script = options.script.map(|path| read(&path)).transpose()?;
    let model = ScriptedModel::listen(options.listen).await?;
    if let Some(script) = script {
        model.set_script(script);
    }
    println!("listening on {}", model.url());
    model.wait().await;
    Ok(())
}

fn read(path: &PathBuf) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a script", path.display()))
}
