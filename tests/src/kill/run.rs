//! One point: it happens in the middle of a conversation, and everything is compared afterwards.

use std::fs;
use std::time::Duration;

use futures::future::join_all;
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::crew::Crew;
use super::person::Walked;
use super::point::{Point, Trouble, Victim};
use super::stack::ENGINE;
use super::transcript::Transcript;
use crate::installation::ROLES;
use crate::rows::Rows;
use crate::wait::{soon, until};

/// Conversations that are under way when a server dies.
const LOAD: usize = 4;
/// Facts that a stream loses at its end.
const LOST: u64 = 1_000;

/// What a point took.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// From the moment at which the victim was ready again to the next fact on the screen.
    pub back: Duration,
    /// All of it, with the checks.
    pub whole: Duration,
}

/// Lets it happen and checks everything; fails saying what differs.
pub async fn run(crew: &mut Crew, point: &Point) -> Report {
    let begun = Instant::now();
    crew.heal().await;
    let (walks, back) = match point.victim {
        Victim::Place(role, place, after) => at_place(crew, point, (role, place, after)).await,
        Victim::Settlement(role, place) => settlement(crew, point, (role, place)).await,
        Victim::Leader => leader(crew, point).await,
        Victim::Leadership => leadership(crew, point).await,
        Victim::Anybody => anybody(crew, point).await,
        Victim::Door(server, trouble) => door(crew, point, (server, trouble)).await,
        Victim::Server(server) => server_dies(crew, point, server).await,
        Victim::Engine => engine_dies(crew, point).await,
        Victim::Stream => stream_removed(crew, point).await,
        Victim::Tail => tail_lost(crew, point).await,
    };
    for walked in &walks {
        let transcript = Transcript::of(&walked.events);
        let lost = point.victim == Victim::Engine && walked.status() == "failed";
        if !point.cut && !lost {
            transcript.is_like(crew.undisturbed(point.tale), point.name);
        }
        let statuses = if lost { &["completed", "failed"] } else { point.statuses() };
        crew.checker.check(crew, point.tale, walked, statuses).await;
    }
    Report { back, whole: begun.elapsed() }
}

type Walk = JoinHandle<Walked>;

/// Somebody begins this conversation now.
fn begin(crew: &Crew, point: &Point) -> Walk {
    let (person, word) = (crew.person.clone(), crew.word(point.tale));
    let tale = point.tale;
    tokio::spawn(async move { person.walk(tale, &word).await })
}

/// Waits for the ends of these conversations; gives the time until they first went on.
async fn ends(crew: &Crew, walks: Vec<Walk>) -> (Vec<Walked>, Duration) {
    let (ready, mut shown) = (Instant::now(), crew.person.shown.subscribe());
    let on = tokio::spawn(async move { shown.wait_for(|at| *at > ready).await.map(|at| *at - ready).ok() });
    let walked = soon("the ends of the conversations", join_all(walks)).await;
    let walked = walked.into_iter().map(|walked| walked.unwrap_or_else(|error| panic!("{error}"))).collect();
    // All may have been shown before it was ready.
    let back = if on.is_finished() {
        on.await.unwrap()
    } else {
        on.abort();
        None
    };
    (walked, back.unwrap_or_default())
}

async fn at_place(
    crew: &mut Crew,
    point: &Point,
    (role, place, after): (&'static str, &str, u32),
) -> (Vec<Walked>, Duration) {
    let passes = if after == 0 { String::new() } else { format!("{after}*off->") };
    crew.arm(role, &format!("{place}={passes}return")).await;
    let mut walks = vec![begin(crew, point)];
    // Who is slow takes more at a time, and passes the place less often: then one conversation does not lead so far.
    let again = |crew: &Crew| {
        if walks.iter().all(Walk::is_finished) {
            walks.push(begin(crew, point));
        }
    };
    crew.died_while(role, again).await;
    crew.revive(role).await;
    ends(crew, walks).await
}

/// The runner dies in an effect that may not happen twice; whoever else dies does so while a person settles the call.
async fn settlement(
    crew: &mut Crew,
    point: &Point,
    (role, place): (&'static str, &str),
) -> (Vec<Walked>, Duration) {
    let (mut walks, back) = at_place(crew, point, ("runner", "runner.in_effect", 0)).await;
    for walked in &mut walks {
        assert_eq!(walked.status(), "in_doubt");
        let (person, call) = (crew.person.clone(), walked.calls().pop().unwrap());
        crew.arm(role, &format!("{place}=return")).await;
        let settled = tokio::spawn({
            let call = call.clone();
            async move { person.settle(&call).await }
        });
        crew.died(role).await;
        crew.revive(role).await;
        soon("the settlement's receipt", settled).await.unwrap_or_else(|error| panic!("{error}"));
        // The fact has its number once a view knows it; the screen of a closed conversation ends with the last number.
        crew.checker.settled(&call).await;
        crew.person.follow_rest(walked).await;
    }
    (walks, back)
}

async fn leader(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let second = crew.another("relay").await;
    let walk = begin(crew, point);
    crew.kill("relay");
    crew.promote("relay", second);
    ends(crew, vec![walk]).await
}

async fn leadership(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let second = crew.another("relay").await;
    let walk = begin(crew, point);
    let rows = Rows::of(&crew.installation).await;
    // The sequencer's statement tells its session.
    let sql = format!(
        "select pg_terminate_backend(a.pid) as done from pg_stat_activity a
         where a.datname = '{}' and a.query like '%with new as materialized%' and a.pid <> pg_backend_pid()",
        crew.installation.name
    );
    until("a session that numbers facts", async || (!rows.postgres(&sql).await.is_empty()).then_some(()))
        .await;
    let done = ends(crew, vec![walk]).await;
    crew.kill("relay");
    crew.promote("relay", second);
    done
}

async fn anybody(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    for _ in 0..LOAD {
        tokio::time::sleep(Duration::from_millis(rand::random_range(0..300))).await;
        let role = ROLES[rand::random_range(0..ROLES.len())];
        crew.kill(role);
        crew.revive(role).await;
    }
    ends(crew, walks).await
}

async fn door(
    crew: &mut Crew,
    point: &Point,
    (server, trouble): (&'static str, Trouble),
) -> (Vec<Walked>, Duration) {
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    let door = &crew.doors[server];
    tokio::time::sleep(Duration::from_millis(rand::random_range(0..1_500))).await;
    let lasts = match trouble {
        Trouble::Cut => {
            door.shut();
            Duration::from_secs(2)
        }
        Trouble::Silent => {
            door.stall();
            Duration::from_secs(6)
        }
        Trouble::Late => {
            door.delay(Duration::from_millis(20));
            Duration::from_secs(4)
        }
    };
    tokio::time::sleep(lasts).await;
    door.open();
    ends(crew, walks).await
}

async fn server_dies(crew: &mut Crew, point: &Point, server: &str) -> (Vec<Walked>, Duration) {
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    crew.stack.kill(server).await;
    crew.stack.start(server).await;
    let done = ends(crew, walks).await;
    crew.checker.reconnect(&crew.installation).await;
    done
}

/// Code that ran meanwhile has failed, and the model was told; what comes afterwards runs.
async fn engine_dies(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    tokio::time::sleep(Duration::from_millis(rand::random_range(0..1_500))).await;
    crew.stack.kill(ENGINE).await;
    crew.stack.start("docker").await;
    let (mut walked, back) = ends(crew, walks).await;
    let after = crew.person.walk(point.tale, &crew.word(point.tale)).await;
    assert_eq!(after.status(), "completed", "the engine is of use again");
    walked.push(after);
    (walked, back)
}

async fn stream_removed(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let folder = crew.stack.stream_folder(crew.checker.stream());
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    crew.stack.kill("nats").await;
    fs::remove_dir_all(&folder).unwrap();
    crew.stack.start("nats").await;
    ends(crew, walks).await
}

async fn tail_lost(crew: &mut Crew, point: &Point) -> (Vec<Walked>, Duration) {
    let folder = crew.stack.stream_folder(crew.checker.stream());
    let before = folder.with_file_name(format!("{}.before", crew.checker.stream()));
    // A copy of the stream as it is now, taken while the server stands still.
    crew.stack.kill("nats").await;
    let copied = Command::new("cp").arg("-a").args([&folder, &before]).status().await.unwrap();
    assert!(copied.success());
    // Not where the server would take it for another stream.
    let aside = std::env::temp_dir().join(before.file_name().unwrap());
    let _ = fs::remove_dir_all(&aside);
    let moved = Command::new("mv").args([&before, &aside]).status().await.unwrap();
    assert!(moved.success());
    crew.stack.start("nats").await;
    facts(crew, LOST).await;
    let walks: Vec<_> = (0..LOAD).map(|_| begin(crew, point)).collect();
    crew.stack.kill("nats").await;
    fs::remove_dir_all(&folder).unwrap();
    let moved = Command::new("mv").args([&aside, &folder]).status().await.unwrap();
    assert!(moved.success());
    crew.stack.start("nats").await;
    ends(crew, walks).await
}

/// Makes so many facts: conversations get one name after another, and every reader knows of it.
async fn facts(crew: &Crew, count: u64) {
    const LANES: u64 = 8;
    let word = crew.word(super::Tale::Code);
    let lanes = (0..LANES).map(|_| async {
        let walked = crew.person.walk(super::Tale::Code, &word).await;
        let path = format!("/v1/conversations/{}", walked.turn.conversation);
        for nth in 1..=count / LANES {
            crew.person.rename(&walked.turn.conversation, &format!("name {nth}")).await;
        }
        let last = format!("name {}", count / LANES);
        until("the last name in the view", async || {
            (crew.person.read(&path).await["title"] == last).then_some(())
        })
        .await;
    });
    join_all(lanes).await;
}
