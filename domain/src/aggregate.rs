//! The shape that every aggregate shares, and its one line to cqrs-es.

use cqrs_es::DomainEvent;

/// The name of each event type as facts carry it (`tool_call.completed`) and the version of its form.
pub trait EventKind {
    /// `<aggregate>.<event>`.
    fn kind(&self) -> &'static str;

    /// Version of the stored form; older ones are upcast when they are read.
    fn version(&self) -> u32 {
        1
    }
}

/// A thing with a life of its own: commands are decided against its state, events change it.
pub trait Entity:
    cqrs_es::Aggregate<Command = <Self as Entity>::Order, Event = <Self as Entity>::Happening>
{
    /// What it can be told to do.
    type Order;
    /// What can have happened to it.
    type Happening: DomainEvent + EventKind;
    /// Why it says no.
    type Refusal: std::error::Error + Send + Sync + 'static;

    /// May this be done, and what happens then? No event means: it is so already.
    ///
    /// # Errors
    /// The refusal says why the command may not be done in this state.
    fn decide(&self, command: Self::Order) -> Result<Vec<Self::Happening>, Self::Refusal>;

    /// Takes in what has happened. Cannot fail.
    fn evolve(&mut self, event: Self::Happening);
}

/// Names an aggregate's parts and ties its `decide` and `evolve` to cqrs-es.
macro_rules! aggregate {
    ($name:ident as $kind:literal: $command:ident => $event:ident or $refusal:ident) => {
        impl crate::aggregate::Entity for $name {
            type Order = $command;
            type Happening = $event;
            type Refusal = $refusal;

            fn decide(&self, command: $command) -> Result<Vec<$event>, $refusal> {
                $name::decide(self, command)
            }

            fn evolve(&mut self, event: $event) {
                $name::evolve(self, event);
            }
        }

        impl cqrs_es::Aggregate for $name {
            const TYPE: &'static str = $kind;
            type Command = $command;
            type Event = $event;
            type Error = $refusal;
            type Services = ();

            async fn handle(
                &mut self,
                command: $command,
                (): &(),
                sink: &cqrs_es::event_sink::EventSink<Self>,
            ) -> Result<(), $refusal> {
                for event in $name::decide(self, command)? {
                    sink.write(event, self).await;
                }
                Ok(())
            }

            fn apply(&mut self, event: $event) {
                self.evolve(event);
            }
        }

        impl cqrs_es::DomainEvent for $event {
            fn event_type(&self) -> String {
                crate::aggregate::EventKind::kind(self).to_owned()
            }

            fn event_version(&self) -> String {
                crate::aggregate::EventKind::version(self).to_string()
            }
        }
    };
}

/// Gives each variant of an event enum its name on the wire.
macro_rules! event_kinds {
    ($event:ident { $($variant:ident => $kind:literal),+ $(,)? }) => {
        impl crate::aggregate::EventKind for $event {
            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)+
                }
            }
        }

        impl $event {
            /// Every name that this event type can have on the wire.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];
        }
    };
}

pub(crate) use {aggregate, event_kinds};
