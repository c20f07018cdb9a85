/** The part of the front door, on the real HAProxy: its user, its key, what it does with a bad file, and a renewed certificate. */
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { ensureHaproxy } from "@resontech/airgap/haproxy";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { renderDoorConfig } from "@resontech/door/door-config";
import { PARTS } from "@resontech/parts";
import t from "tap";
import { CustomersPki } from "@resontech/house/customers-pki";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import { evaluateCertificate } from "../../src/ca/decisions/evaluate-certificate.ts";
import { giveUpCustomers, keepNext, putInForce } from "../../src/ca/door-certificate.ts";
import { ensureFolder, readableBy, ROOT, writeOwned } from "../../src/config/owned-file.ts";
import { renewLiveDoors } from "../../src/first-boot/prepare.ts";
import { coordinator as coordinatorPart } from "@resontech/coordinator/part";
import { door } from "@resontech/door/part";
import { socketOf, userOf } from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { declaredPart } from "../../src/parts/declared-part.ts";
import { httpsGet } from "../../src/parts/health.ts";
import type { Running } from "../../src/parts/part.ts";
import { freePort } from "@resontech/house/free-port";

const layout = new Layout(
  t.testdir({ etc: { secrets: {} }, current: { engines: {} } }),
  `door-${process.pid}`,
);
const config = {
  ...{ address: "127.0.0.1", name: "localhost", uidBase: 64_100 },
  ports: { api: await freePort() },
} as ApplianceConfig;
const release = { version: "1", tree: [], engines: {} } as unknown as PartContext["release"];
const context: PartContext = { layout, config, release, parts: PARTS };
const owner = readableBy(userOf(config, door));
symlinkSync(dirname(await ensureHaproxy()), layout.release("engines", "haproxy"));
// Open on the way to its sockets, whoever made the first of the two.
for (const folder of [layout.run(".."), layout.run()]) ensureFolder(folder, ROOT, 0o755);
// Its user must come through to its files.
for (const folder of [layout.root, layout.etc, layout.secrets("")]) chmodSync(folder, 0o755);
t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));

const ca = new CertificateAuthority(layout.caDir);
await ca.ensureRoot("test");
await renewLiveDoors(context);
const file = layout.secrets("door", "haproxy.cfg");
const good = renderDoorConfig({
  ...{ address: "127.0.0.1", port: config.ports.api, name: "localhost" },
  certFile: layout.secrets("door", "server.crt"),
  coordinatorSocket: socketOf(coordinatorPart, layout, "api"),
  servingSocket: layout.run("serving", "sock"),
  keycloak: {
    ...{ port: 1, caFile: layout.rootCert },
    clientCertFile: layout.secrets("door", "server.crt"),
  },
  ...{ maxConnections: 400, threads: 2 },
});
writeOwned(file, good, owner, 0o440);
const part = declaredPart(context, door);

t.test("a file that HAProxy does not take is named before it is started", async (t) => {
  writeOwned(file, good.replace("mode http", "mode hpptt"), owner, 0o440);
  await t.rejects(Promise.resolve(part.prepare?.()), /haproxy -c -f ended with 1: [\s\S]*hpptt/);
  writeOwned(file, good, owner, 0o440);
});

t.test("it serves under its own user, with a key that is its group's alone", async (t) => {
  const running = await started();
  t.equal(await part.isHealthy(), true, "while no coordinator runs");
  const status = readFileSync(`/proc/${running.pid}/status`, "utf8");
  t.match(status, `Uid:\t64106\t64106\t64106\t64106`);
  const { mode, uid, gid } = statSync(layout.secrets("door", "server.key"));
  t.same([mode & 0o777, uid, gid], [0o440, 0, 64_106]);
  t.match(await get("/api/keys"), { status: 503, body: /"code":"restarting"/ });
  await ended(running);
});

t.test(
  "the coordinator's socket lets the door in, and is found each time it is there",
  async (t) => {
    const running = await started();
    // As the coordinator starts: later than the door does.
    await declaredPart(context, coordinatorPart).prepare?.();
    const folder = statSync(layout.run("api"));
    t.same([folder.mode & 0o7777, folder.uid, folder.gid], [0o2750, 64_100, 64_106]);
    for (let lives = 0; lives < 2; lives++) {
      const server = await coordinator();
      t.match(await get("/api/keys"), { status: 200, body: "of the coordinator" });
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      t.match(await get("/api/keys"), { status: 503 });
    }
    await ended(running);
  },
);

t.test("a renewed certificate is shown, and no connection ends for it", async (t) => {
  const running = await started();
  const before = (await get("/healthz/door"))?.fingerprint;
  const open = connect({
    host: "127.0.0.1",
    port: config.ports.api,
    ca: readFileSync(layout.rootCert),
  });
  await once(open, "secureConnect");
  rmSync(layout.secrets("door", "server.crt"));
  await renewLiveDoors(context);
  for (
    const end = Date.now() + 120_000;
    (await get("/healthz/door"))?.fingerprint === before;
    await sleep(100)
  ) {
    if (Date.now() > end) break;
    t.equal(await part.isHealthy(), true);
  }
  t.not((await get("/healthz/door"))?.fingerprint, before);
  t.equal(await part.isHealthy(), true);
  open.write("GET /healthz/door HTTP/1.1\r\nhost: localhost\r\n\r\n");
  t.match(String((await once(open, "data"))[0]), /^HTTP\/1\.1 200/);
  open.destroy();
  process.kill(running.pid!, 0);
  t.match(readFileSync(layout.run("door.pid"), "utf8"), `${running.pid} `, "one process all along");
  await ended(running);
});

t.test(
  "the customer's certificate is shown to clients, and openssl trusts it by the customer's authority",
  async (t) => {
    const pki = new CustomersPki(join(layout.root, "customers"));
    const { cert, key } = pki.leaf({ names: "DNS:localhost" });
    const brought = { cert: cert + pki.intermediate, key, ca: pki.ca };
    const running = await started();
    keepNext(layout, evaluateCertificate(brought, config.name, Date.now()));
    await renewLiveDoors(context);
    t.equal(await part.isHealthy(), true);
    t.match(shownTo(layout.rootCert), /Verify return code: 0/, "the own one until it is in force");
    putInForce(layout);
    await renewLiveDoors(context);
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(100)) {
      t.equal(await part.isHealthy(), true, "the supervisor trusts both");
      if (/Verify return code: 0/.test(shownTo(pki.file("root.crt")))) break;
    }
    t.match(shownTo(pki.file("root.crt")), /Verify return code: 0/);
    t.notMatch(shownTo(layout.rootCert), /Verify return code: 0/);
    t.match(shownTo(layout.trustCert), /Verify return code: 0/);
    giveUpCustomers(layout);
    await renewLiveDoors(context);
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(100)) {
      t.equal(await part.isHealthy(), true);
      if (/Verify return code: 0/.test(shownTo(layout.rootCert))) break;
    }
    t.match(shownTo(layout.rootCert), /Verify return code: 0/, "the own one came back");
    await ended(running);
  },
);

t.test("the next one starts beside it: nobody finds the port closed", async (t) => {
  const first = await started();
  const over = new AbortController();
  const seen = new Map<string, number>();
  const calling = (async () => {
    while (!over.signal.aborted) {
      const said = String((await get("/healthz/door"))?.status ?? "no answer");
      seen.set(said, (seen.get(said) ?? 0) + 1);
    }
  })();
  const endBefore = await part.setAside?.();
  const next = await started();
  await endBefore?.();
  await first.exited;
  over.abort();
  await calling;
  t.same([...seen.keys()], ["200"]);
  t.ok((seen.get("200") ?? 0) > 20, `${seen.get("200")} calls`);
  t.match(readFileSync(layout.run("door.pid"), "utf8"), `${next.pid} `);
  await ended(next);
});

t.test("one that can't start leaves what ran to go on, and an end ends both", async (t) => {
  const first = await started();
  const endBefore = await part.setAside?.();
  await endBefore?.();
  t.equal((await get("/healthz/door"))?.status, 200, "no other has taken its place");
  await part.setAside?.();
  const next = await started();
  await part.endLeftover();
  await Promise.all([first.exited, next.exited]);
  t.equal(await get("/healthz/door"), null);
});

t.test("what a killed supervisor left is ended, master and worker", async (t) => {
  await started();
  await part.endLeftover();
  t.equal(await get("/healthz/door"), null);
});

/** What openssl's client says that trusts this file alone. */
function shownTo(caFile: string): string {
  const to = ["-connect", `127.0.0.1:${config.ports.api}`, "-servername", "localhost"];
  const checks = ["-CAfile", caFile, "-no-CApath", "-no-CAstore", "-verify_hostname", "localhost"];
  const { stdout } = spawnSync("openssl", ["s_client", ...to, ...checks], {
    encoding: "utf8",
    input: "",
    timeout: 120_000,
  });
  return stdout;
}

async function started(): Promise<Running> {
  await part.prepare?.();
  const running = await part.start();
  for (const end = Date.now() + 120_000; !(await part.isHealthy()); await sleep(50))
    if (Date.now() > end) throw new Error(readFileSync(layout.log("door.log"), "utf8"));
  return running;
}

async function ended(running: Running): Promise<void> {
  running.stop();
  await running.exited;
}

function get(path: string) {
  const { api: port } = config.ports;
  return httpsGet({
    ...{ host: "127.0.0.1", port, path },
    servername: "localhost",
    caFile: layout.rootCert,
  });
}

async function coordinator(): Promise<Server> {
  rmSync(socketOf(coordinatorPart, layout, "api"), { force: true });
  const server = createServer((_request, response) => response.end("of the coordinator"));
  server.listen(socketOf(coordinatorPart, layout, "api"));
  await once(server, "listening");
  chmodSync(socketOf(coordinatorPart, layout, "api"), 0o660);
  return server;
}
