use std::time::Duration;

use futures::StreamExt;
use oxagen_domain::Scope;
use oxagen_jetstream::live::{self, Frame, FrameKind, LivePublisher};
use oxagen_jetstream::topology::{self, RUNNER, Settings};
use oxagen_jetstream::{consume, follow};
use uuid::Uuid;

use crate::world::{Server, World, fact, read, relay, soon};

#[tokio::test]
async fn field_f39_everybody_goes_on_after_the_server_was_killed() {
    let mut server = Server::start().await;
    let world = World::on(&server.url()).await;
    let facts: Vec<_> = (1..=6).map(|seq| fact(seq, "turn.started")).collect();
    world.publisher.publish(&facts[..3]).await.unwrap();
    let mut reader = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut reader, 3).await, [1, 2, 3]);
    let mut work = consume::work(&world.bus, &RUNNER);
    for seq in 1..=3 {
        let job = soon(work.next(1)).await.unwrap();
        assert_eq!(job.fact.seq, seq);
        job.ack().await.unwrap();
    }
    let acknowledged = async {
        while consume::lag(&world.bus, &RUNNER).await.unwrap().floor < 3 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(acknowledged).await;

    for round in [&facts[3..4], &facts[4..6]] {
        server.kill();
        // All three are waiting while the server is away and comes back.
        let (_, read, worked) = tokio::join!(
            async {
                server.start_again().await;
                relay(&world.publisher, round).await;
            },
            read(&mut reader, round.len()),
            async {
                let mut seqs = Vec::new();
                while seqs.last() != round.last().map(|fact| &fact.seq) {
                    let job = soon(work.next(1)).await.unwrap();
                    job.ack().await.unwrap();
                    seqs.push(job.fact.seq);
                }
                seqs
            },
        );
        let expected: Vec<u64> = round.iter().map(|fact| fact.seq).collect();
        assert_eq!(read, expected);
        // The server may have forgotten the last acknowledgements.
        assert!(expected.iter().all(|seq| worked.contains(seq)), "{worked:?}");
    }
    world.bus.ping().await.unwrap();
}

#[tokio::test]
async fn a_server_that_lost_its_disk_gets_the_same_numbers_again() {
    let mut server = Server::start().await;
    let world = World::on(&server.url()).await;
    let facts: Vec<_> = (1..=5).map(|seq| fact(seq, "turn.started")).collect();
    world.publisher.publish(&facts[..3]).await.unwrap();
    let mut reader = follow::facts(&world.bus, "reader", 0, &[]);
    assert_eq!(read(&mut reader, 3).await, [1, 2, 3]);
    let mut frames = Box::pin(live::follow(&world.bus).await.unwrap());
    let publisher = LivePublisher::start(&world.bus);
    publisher.send(Scope::default(), piece("before"));
    assert_eq!(soon(frames.next()).await.unwrap().1, piece("before"));

    server.kill();
    server.lose_everything();
    server.start_again().await;
    let made_again = async {
        while topology::apply(&world.bus, 5, Settings::default()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(made_again).await;
    relay(&world.publisher, &facts).await;
    assert_eq!(read(&mut reader, 2).await, [4, 5]);
    publisher.send(Scope::default(), piece("after"));
    assert_eq!(soon(frames.next()).await.unwrap().1, piece("after"));
}

fn piece(text: &str) -> Frame {
    Frame {
        conversation_id: Uuid::from_u128(3).into(),
        turn_id: Uuid::from_u128(9).into(),
        turn_version: 1,
        step: 1,
        attempt: 1,
        offset: 0,
        kind: FrameKind::TextDelta { text: text.to_owned() },
    }
}
