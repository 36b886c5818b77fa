//! A kill switch that cancels: every call that runs and that it stops is ended.

use oxagen_commands::{Code, CommandError, Context};
use oxagen_domain::Fact;
use oxagen_domain::policy::KillSwitch;
use oxagen_projections::QueryError;

use crate::ReactorOptions;

/// Ends what runs. What started before the switch is in the view once the view has the switch itself; until then the
/// fact comes again.
pub(crate) async fn calls(
    options: &ReactorOptions,
    fact: &Fact,
    switch: &KillSwitch,
) -> Result<(), CommandError> {
    let away = |error: QueryError| CommandError::new(Code::Unavailable, error.to_string());
    if options.queries.cursor("postgres").await.map_err(away)? < fact.seq {
        return Err(CommandError::new(
            Code::Unavailable,
            "the view of calls is not as far as the kill switch",
        ));
    }
    let scope = Context::after(fact, "kill_switch").scope();
    for running in options.queries.running_calls(scope).await.map_err(away)? {
        if switch.stops(&running.capability).is_some() {
            options.commands.stop_call(&Context::after(fact, "kill_switch"), running.call).await?;
        }
    }
    Ok(())
}
