//! `oxagen turn`: says something to the agent, shows the answer as it comes, and asks what the agent asks.

mod question;
mod screen;

use std::io::{self, Read};

use clap::Args;
use oxagen_domain::{ConversationId, Decision, TurnId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use self::question::{Answered, Asked, Questions};
use self::screen::Screen;
use super::{Desk, decide, plan};
use crate::client::{Client, Follow, Seen};
use crate::failure::Failure;
use crate::output::{can_ask, dim, note};

const EXAMPLES: &str = "\
Examples:
  oxagen turn \"What is the 30th Fibonacci number? Use Python.\"
  oxagen turn --conversation 0198b0c2-… \"And the 31st?\"
  git diff | oxagen turn -                       the text comes from stdin
  oxagen turn --yes --json \"Print the date.\"     every event as NDJSON, approvals granted

The answer goes to stdout; reasoning, tool calls and questions to stderr. Ctrl-C cancels the turn, twice leaves it alone.";

/// `turn`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Turn {
    /// What to say; `-` reads it from stdin
    text: String,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    conversation: Option<ConversationId>,
    /// Ask this model
    #[arg(long)]
    model: Option<String>,
    /// `plan`: let the agent plan first, and act once the plan is approved
    #[arg(long, value_enum, default_value = "act")]
    mode: super::policy::ModeName,
    /// Let every held call of this turn run, and every plan be carried out, without asking
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    turn_id: TurnId,
    conversation_id: ConversationId,
}

/// Starts a turn and stays with it to its end.
pub(super) async fn turn(desk: &Desk, turn: Turn) -> Result<(), Failure> {
    let client = desk.client()?;
    let mut body = json!({ "text": read(&turn.text)? });
    let mut after = 0;
    if let Some(conversation) = turn.conversation {
        body["conversationId"] = json!(conversation);
        let view: Value = client.get(&format!("/v1/conversations/{conversation}"), &[]).await?;
        after = view["lastSeq"].as_u64().unwrap_or_default();
    }
    if turn.mode.name() != "act" {
        body["mode"] = json!(turn.mode.name());
    }
    if let Some(model) = &turn.model {
        body["model"] = json!(model);
    }
    let receipt: Receipt = client.post("/v1/turns", &body).await?;
    let path = format!("/v1/conversations/{}/stream", receipt.conversation_id);
    let follow = client.follow(path, Vec::new(), Some(after));
    let can_ask = can_ask() && !desk.out.is_json() && turn.text != "-";
    let session = Session {
        screen: Screen::new(desk.out),
        questions: Questions::new(can_ask),
        yes: turn.yes,
        cancelled: false,
        client,
        follow,
        receipt,
    };
    session.run().await
}

fn read(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut said = String::new();
    let read = io::stdin().read_to_string(&mut said);
    read.map(|_| said).map_err(|error| Failure::Usage(format!("stdin cannot be read: {error}")))
}

/// A turn and whoever watches it.
struct Session {
    client: Client,
    follow: Follow,
    receipt: Receipt,
    screen: Screen,
    questions: Questions,
    yes: bool,
    cancelled: bool,
}

impl Session {
    async fn run(mut self) -> Result<(), Failure> {
        let mut quiet_since = Instant::now();
        loop {
            let (waits, next_word) = (self.waits_for(), self.screen.next_word(quiet_since));
            tokio::select! {
                seen = self.follow.next() => {
                    let seen = seen?;
                    quiet_since = Instant::now();
                    self.screen.clear_status();
                    if let Some(ended) = self.event(&seen).await? {
                        return ended;
                    }
                }
                answered = self.questions.answered() => self.answer(answered).await?,
                pressed = tokio::signal::ctrl_c() => {
                    pressed?;
                    self.screen.clear_status();
                    if std::mem::replace(&mut self.cancelled, true) {
                        note("the turn goes on without you, or is being cancelled");
                        return Err(Failure::Interrupted);
                    }
                    self.cancel().await?;
                }
                () = tokio::time::sleep_until(next_word) => self.screen.status(&waits, quiet_since),
            }
        }
    }

    /// Takes in an event; gives how the command ends when the turn has.
    async fn event(&mut self, seen: &Seen) -> Result<Option<Result<(), Failure>>, Failure> {
        match seen.name.as_str() {
            "gap" if seen.text("reason") == "slow_reader" => {
                self.follow.seek(self.follow.cursor().unwrap_or_default());
                return Ok(None);
            }
            "gap" => return Err(Failure::Failed(format!("the stream has a gap: {}", seen.data))),
            "error" => return Err(Failure::Failed(format!("the stream broke: {}", seen.text("detail")))),
            _ if seen.text("turnId") != self.receipt.turn_id.to_string() => return Ok(None),
            _ => {}
        }
        self.screen.show(seen)?;
        match seen.name.as_str() {
            "approval-required" => self.ask(seen).await?,
            "approval-resolved" => self.questions.withdraw(seen.text("approvalId")),
            "plan-proposed" => {
                // Another version takes the place of the one that was asked about.
                self.questions.withdraw(seen.text("planId"));
                self.ask(seen).await?;
            }
            "plan-resolved" => self.questions.withdraw(seen.text("planId")),
            "turn-completed" => return Ok(Some(self.completed(seen))),
            "turn-failed" => {
                let error = seen.field("error");
                let (code, message) = (error["code"].as_str(), error["message"].as_str());
                let text = format!(
                    "the turn failed ({}): {}",
                    code.unwrap_or("?"),
                    message.unwrap_or("no reason given")
                );
                return Ok(Some(Err(Failure::Failed(text))));
            }
            "turn-cancelled" if self.cancelled => {
                note("the turn was cancelled");
                return Ok(Some(Err(Failure::Interrupted)));
            }
            "turn-cancelled" => {
                let text = format!("the turn was cancelled: {}", seen.text("reason"));
                return Ok(Some(Err(Failure::Failed(text))));
            }
            _ => {}
        }
        Ok(None)
    }

    fn completed(&self, seen: &Seen) -> Result<(), Failure> {
        let usage = seen.field("usage");
        let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
        if !self.screen.is_json() {
            note(dim(&format!(
                "{} + {} tokens; go on with: oxagen turn --conversation {} \"…\"",
                tokens("inputTokens"),
                tokens("outputTokens"),
                self.receipt.conversation_id
            )));
        }
        Ok(())
    }

    async fn ask(&mut self, seen: &Seen) -> Result<(), Failure> {
        let plan = || seen.text("planId").parse().ok().zip(seen.field("planVersion").as_u64());
        let approval = || seen.text("approvalId").parse().ok().map(Asked::Approval);
        let Some(asked) = plan().map(|(plan, version)| Asked::Plan(plan, version)).or_else(approval) else {
            return Ok(());
        };
        if self.yes {
            if !self.screen.is_json() {
                note(dim("approved by --yes"));
            }
            return self.resolve(Answered { asked, decision: Decision::Approve, note: None }).await;
        }
        if self.questions.ask(asked) {
            return Ok(());
        }
        let (yes, no) = match asked {
            Asked::Approval(approval) => (format!("approve {approval}"), format!("deny {approval}")),
            Asked::Plan(plan, _) => (format!("plan approve {plan}"), format!("plan reject {plan}")),
        };
        note(format!("  it waits: oxagen {yes}\n        or: oxagen {no} --note \"…\""));
        Ok(())
    }

    async fn answer(&mut self, answered: Option<Answered>) -> Result<(), Failure> {
        match answered {
            Some(answered) => self.resolve(answered).await,
            None => Ok(()),
        }
    }

    async fn resolve(&mut self, answered: Answered) -> Result<(), Failure> {
        let Answered { asked, decision, note: said } = answered;
        let resolved = match asked {
            Asked::Approval(approval) => {
                decide::resolve(&self.client, approval, decision, said.as_deref()).await
            }
            Asked::Plan(id, version) => {
                plan::resolve(&self.client, (id, version), decision, said.as_deref()).await
            }
        };
        match resolved {
            Ok(receipt) if matches!(receipt["status"].as_str(), Some("open" | "proposed")) => {
                let (given, needed) = (&receipt["given"], &receipt["needed"]);
                note(format!(
                    "approved by {given} of the {needed} people that it needs: it waits for the others"
                ));
                Ok(())
            }
            Ok(_) => Ok(()),
            // Somebody else was faster, or the clock: the stream tells what came of it.
            Err(Failure::Refused(problem)) if problem.status == 409 => {
                note(format!("too late: {}", problem.detail));
                Ok(())
            }
            // Somebody else must answer, and the turn waits for them.
            Err(Failure::Refused(problem)) if problem.status == 403 => {
                note(format!("not you: {}", problem.detail));
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    async fn cancel(&mut self) -> Result<(), Failure> {
        note("cancelling the turn (Ctrl-C again leaves it)");
        let path = format!("/v1/turns/{}/cancel", self.receipt.turn_id);
        let reason = json!({ "reason": "Ctrl-C in oxagen turn" });
        match self.client.post::<Value>(&path, &reason).await {
            Ok(_) => Ok(()),
            // It ended meanwhile, and the stream tells how.
            Err(Failure::Refused(problem)) if problem.status == 409 => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn waits_for(&self) -> String {
        match self.questions.open() {
            0 if self.cancelled => "the turn ends".to_owned(),
            0 => "the agent works".to_owned(),
            1 => "a question is open".to_owned(),
            open => format!("{open} questions are open"),
        }
    }
}
