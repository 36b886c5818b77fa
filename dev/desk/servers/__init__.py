"""The servers that Oxagen runs on, by name."""
from .clickhouse import ClickHouse
from .docker import Docker
from .nats import Nats
from .neo4j import Neo4j
from .postgres import Postgres

SERVERS = {kind.name: kind for kind in (Postgres, Nats, ClickHouse, Neo4j, Docker)}
