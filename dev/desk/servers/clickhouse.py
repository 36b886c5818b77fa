"""The ClickHouse engine, from PyPI, behind dev/clickhouse_front.py."""
import os
import sys

from ..cache import DEV, from_pypi
from ..process import http
from ..server import Server


class ClickHouse(Server):
    name = "clickhouse"

    def env(self):
        return {"CLICKHOUSE_URL": f"http://127.0.0.1:{self.instance.port('clickhouse')}", "CLICKHOUSE_USER": "default",
                "CLICKHOUSE_PASSWORD": "", "CLICKHOUSE_DATABASE": "oxagen"}

    def install(self):
        return from_pypi("clickhouse")

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes()[0].start(sys.executable, DEV / "clickhouse_front.py", self.folder, self.instance.port("clickhouse"),
                                  env={**os.environ, "PYTHONPATH": str(self.install())})

    def check(self):
        http(self.env()["CLICKHOUSE_URL"] + "/?query=SELECT+1")

    def prepare(self):
        http(self.env()["CLICKHOUSE_URL"], b"CREATE DATABASE IF NOT EXISTS oxagen")
