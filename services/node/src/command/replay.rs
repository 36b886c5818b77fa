//! `oxagen replay`: prints history as NDJSON, as fast as it can or at the pace at which it happened.

pub(super) mod time;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use oxagen_domain::{ConversationId, Fact};

use self::time::{Until, since, until};
use super::Desk;
use crate::client::{Client, Which};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress;

/// Numbers follow commits and not clocks: a fact may be this much older than the one before it.
const CLOCKS: TimeDelta = TimeDelta::minutes(1);
/// The longest pause of a replay at its original pace.
const LONGEST: Duration = Duration::from_secs(3600);

const EXAMPLES: &str = "\
Examples:
  oxagen replay > history.ndjson                       everything, once
  oxagen replay --after 1200 --until 1300
  oxagen replay --since 2h --type 'approval.*'         of the last two hours
  oxagen replay --conversation 0198b0c2-… --speed 10   ten times as fast as it happened
  oxagen replay --follow | jq -c '[.seq, .type]'";

/// `replay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Replay {
    /// Begin after this seq
    #[arg(
        long,
        value_name = "SEQ",
        conflicts_with = "since",
        default_value_t = 0,
        hide_default_value = true
    )]
    after: u64,
    /// Begin with facts of that time: RFC 3339, or 90s, 15m, 2h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<DateTime<Utc>>,
    /// End with this seq, or at that time
    #[arg(long, value_name = "SEQ|TIME", value_parser = until)]
    until: Option<Until>,
    /// Facts of this conversation alone
    #[arg(long, value_name = "ID")]
    conversation: Option<ConversationId>,
    /// Facts of these types alone; `tool_call.*` means all of a kind
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Go on with what happens
    #[arg(long)]
    follow: bool,
    /// Keep the original pauses, divided by this
    #[arg(long, value_name = "X", value_parser = speed)]
    speed: Option<f64>,
}

/// Prints facts to the end, or for ever.
pub(super) async fn replay(desk: &Desk, replay: Replay) -> Result<(), Failure> {
    let client = desk.client()?;
    let printed = async {
        let mut player = Player {
            out: desk.out,
            since: replay.since,
            until: replay.until,
            speed: replay.speed,
            last: None,
        };
        player.play(&client, replay).await
    };
    tokio::select! {
        printed = printed => printed,
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Err(Failure::Interrupted)
        }
    }
}

/// Prints what is wanted, at the wanted pace.
struct Player {
    out: Output,
    since: Option<DateTime<Utc>>,
    until: Option<Until>,
    speed: Option<f64>,
    last: Option<DateTime<Utc>>,
}

impl Player {
    async fn play(&mut self, client: &Client, replay: Replay) -> Result<(), Failure> {
        let which = Which { conversation: replay.conversation, types: replay.types };
        let mut after = replay.after;
        if let Some(since) = replay.since {
            let place = client.place(&which, |fact| fact.occurred_at < since - CLOCKS);
            after = progress::during("looking for that time", place).await?;
        }
        loop {
            let (facts, more) = client.facts(&which, after).await?;
            for fact in facts {
                after = fact.seq;
                if !self.fact(&fact).await? {
                    return Ok(());
                }
            }
            if !more {
                break;
            }
        }
        if !replay.follow {
            return Ok(());
        }
        // What happens now has its own pace.
        self.speed = None;
        let mut follow = client.follow_facts(&which, after);
        loop {
            let seen = follow.next().await?;
            match seen.name.as_str() {
                "gap" if seen.text("reason") == "slow_reader" => {
                    follow.seek(follow.cursor().unwrap_or(after))
                }
                "gap" => return Err(Failure::NotFound(format!("there is no fact {after} in this history"))),
                "error" => return Err(Failure::Failed(format!("the stream broke: {}", seen.text("detail")))),
                _ => {
                    let Ok(fact) = serde_json::from_value::<Fact>(seen.data) else { continue };
                    if !self.fact(&fact).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Prints a fact if it is wanted; `false` when the end is reached.
    async fn fact(&mut self, fact: &Fact) -> Result<bool, Failure> {
        match self.until {
            Some(Until::Seq(last)) if fact.seq > last => return Ok(false),
            Some(Until::Time(end)) if fact.occurred_at > end + CLOCKS => return Ok(false),
            Some(Until::Time(end)) if fact.occurred_at > end => return Ok(true),
            Some(Until::Seq(_) | Until::Time(_)) | None => {}
        }
        if self.since.is_some_and(|since| fact.occurred_at < since) {
            return Ok(true);
        }
        if let (Some(speed), Some(last)) = (self.speed, self.last) {
            tokio::time::sleep(pause(fact.occurred_at - last, speed)).await;
        }
        self.last = Some(fact.occurred_at);
        self.out.value(fact)?;
        Ok(true)
    }
}

/// The original pause divided by the speed; none where a clock went back.
fn pause(original: TimeDelta, speed: f64) -> Duration {
    original.to_std().unwrap_or_default().div_f64(speed).min(LONGEST)
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.trim_end_matches('x').parse::<f64>().ok();
    speed
        .filter(|speed| (0.001..=1_000_000.0).contains(speed))
        .ok_or_else(|| "expected a number such as 2 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_divided_and_never_negative() {
        assert_eq!(pause(TimeDelta::seconds(10), 4.0), Duration::from_millis(2500));
        assert_eq!(pause(TimeDelta::seconds(-3), 1.0), Duration::ZERO);
        assert_eq!(speed("2x"), Ok(2.0));
        assert!(speed("0").is_err() && speed("fast").is_err());
    }
}
