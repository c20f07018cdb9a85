/** rsyslog as a site runs it: its own process, configuration and certificates, TLS with names checked both ways. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

export const RECEIVER_NAME = "siem.example";
export const SENDER_NAME = "appliance.example";

export type ReceiverFiles = { caFile: string; certFile: string; keyFile: string };

/** The end of a line: the start of one may be the rest of another that a kill tore. */
const LINE =
  /\[sov@[0-9]+ id="[0-9a-f-]{36}" index="([0-9]+)" leaf="([0-9a-f]{64})" origin="[^"]+"\]$/;

/** In which a sender that is quick sends more than is read. */
const HELD_MS = 100;
const ESTABLISHED = "01";

/** What one line of its file tells. */
export type ReceivedLine = { index: number; leafHash: string };

export class RsyslogReceiver {
  readonly #root: string;
  readonly port: number;
  #child: ChildProcess | null = null;

  constructor(root: string, port: number, { caFile, certFile, keyFile }: ReceiverFiles) {
    this.#root = root;
    this.port = port;
    // Direct queues: what was read from a connection is in the file before more is read from it.
    writeFileSync(
      join(root, "rsyslog.conf"),
      `global(workDirectory="${root}" maxMessageSize="64k" defaultNetstreamDriver="ossl"
  defaultNetstreamDriverCAFile="${caFile}" defaultNetstreamDriverCertFile="${certFile}" defaultNetstreamDriverKeyFile="${keyFile}")
main_queue(queue.type="Direct")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="x509/name" permittedPeer=["${SENDER_NAME}"])
template(name="line" type="string" string="%structured-data%\\n")
ruleset(name="out" queue.type="Direct") { action(type="omfile" file="${this.file}" template="line" flushOnTXEnd="on") }
input(type="imtcp" port="${port}" address="127.0.0.1" ruleset="out")
`,
    );
  }

  get file(): string {
    return join(this.#root, "received.log");
  }

  get bytes(): number {
    return existsSync(this.file) ? statSync(this.file).size : 0;
  }

  async start(): Promise<void> {
    const pidFile = join(this.#root, `rsyslog-${Date.now()}.pid`);
    this.#child = spawn("rsyslogd", ["-n", "-f", join(this.#root, "rsyslog.conf"), "-i", pidFile], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    for (let attempt = 0; !(await isListening(this.port)); attempt += 1) {
      if (attempt === 100 || this.#child.exitCode !== null)
        throw new Error("rsyslogd does not listen");
      await pause(50);
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  /**
   * Killed in the middle of what it is sent: it is held first, until more has come than it has read. Where its last read ended has nothing to do with frames.
   * @returns bytes that had come and were not read
   */
  async kill(): Promise<number> {
    this.#child?.kill("SIGSTOP");
    await pause(HELD_MS);
    const unread = unreadBytes(this.port);
    await this.end("SIGKILL");
    return unread;
  }

  /** Lines that a kill tore are no lines, and are left out. */
  async *lines(): AsyncGenerator<ReceivedLine> {
    for await (const line of createInterface({
      input: createReadStream(this.file),
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      const [, index, leafHash] = LINE.exec(line) ?? [];
      if (leafHash !== undefined) yield { index: Number(index), leafHash };
    }
  }
}

/** Of established connections to this port, as the kernel counts them. */
function unreadBytes(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "latin1").split("\n").slice(1);
  const ofPort = rows
    .map((row) => row.trim().split(/ +/))
    .filter(([, at, , state]) => at?.endsWith(local) && state === ESTABLISHED);
  return ofPort.reduce(
    (sum, [, , , , queues = ""]) => sum + Number.parseInt(queues.split(":")[1] ?? "0", 16),
    0,
  );
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });
}
