/** Certificates that are renewed while the real NATS and registry serve. */
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { createAccount, createUser } from "@nats-io/nkeys";
import { ensureEngine } from "@resontech/airgap/engines";
import { s3Front } from "@resontech/s3-front/part";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { renderRegistryConfig } from "@resontech/registry/registry-config";
import { pino } from "pino";
import t, { type Test } from "tap";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { connectBus } from "@resontech/coordinator/connect-bus";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import { writeTrust } from "../../src/ca/door-certificate.ts";
import { ensureFolder, readableBy, writeOwned } from "../../src/config/owned-file.ts";
import { renderNatsConfig } from "@resontech/nats/nats-config";
import { nats as natsPart } from "@resontech/nats/part";
import { door } from "@resontech/door/part";
import { registry as registryPart } from "@resontech/registry/part";
import { secretOf, userOf } from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { declaredPart } from "../../src/parts/declared-part.ts";
import type { Part, Running } from "../../src/parts/part.ts";
import { renewNow } from "../../src/supervisor/renew-certificates.ts";
import { freePort } from "@resontech/house/free-port";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root starts parts as others" };
const DAY_MS = 86_400_000;
const NAMES = ["localhost", "127.0.0.1"];
const log = pino({ level: "silent" });

t.test(
  "NATS shows a renewed certificate and ends no connection; the registry is started anew for it",
  asRoot,
  async (t) => {
    const { context, nats, registry, ports } = await world(t);
    const { layout } = context;
    const [bus, images] = [await started(t, nats), await started(t, registry)];
    const client = layout.secrets("coordinator");
    const connected = await connectBus({
      ...{ url: `tls://localhost:${ports.nats}`, caFile: layout.rootCert, account: "FLEET" },
      ...{ certFile: join(client, "client.crt"), keyFile: join(client, "client.key") },
      ...{ userSeedFile: join(client, "seed"), accountSeedFile: join(client, "seed") },
    });
    let cuts = 0;
    void (async () => {
      for await (const { type } of connected.status()) if (type === "disconnect") cuts += 1;
    })();
    t.teardown(() => connected.close());
    const before = await shownByNats(context);
    await renewNow(context, log);
    t.equal(await shownByNats(context), before, "what is young stays");

    // Issued long ago, as after most of its life.
    const old = new CertificateAuthority(
      layout.caDir,
      () => new Date(Date.now() - 300 * DAY_MS),
      true,
    );
    for (const part of [natsPart, registryPart])
      await old.ensureServer(
        layout.secrets(part.name),
        readableBy(userOf(context.config, part)),
        "server",
        NAMES,
      );
    await renewNow(context, log);
    for (const end = Date.now() + 120_000; (await shownByNats(context)) === before; await sleep(50))
      if (Date.now() > end) break;
    t.equal(
      await shownByNats(context),
      readFileSync(layout.secrets("nats", "server.crt"), "utf8").trim(),
    );
    t.not(await shownByNats(context), before);
    process.kill(bus.pid!, 0);
    await connected.flush();
    t.equal(cuts, 0, "who is connected goes on");
    t.ok(await images.exited, "the supervisor starts it again");
  },
);

async function world(t: Test) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `renew-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const ports = { nats: await freePort(), registry: await freePort() };
  const config = {
    ...{ address: "127.0.0.1", name: "localhost", uidBase: 64_100, ports },
  } as ApplianceConfig;
  const context = {
    ...{ layout, config },
    release: { version: "1", tree: [], engines: {} } as unknown as PartContext["release"],
    parts: [door, natsPart, registryPart, s3Front],
  };
  const open = readableBy(0);
  for (const folder of [
    root,
    layout.etc,
    layout.secrets(""),
    layout.release("engines"),
    layout.run(),
    layout.log(""),
    layout.data("registry"),
  ]) {
    mkdirSync(folder, { recursive: true });
    ensureFolder(folder, open, 0o755);
  }
  for (const [name, engine] of [
    ["nats-server", "nats"],
    ["registry", "registry"],
  ] as const)
    symlinkSync(await ensureEngine(engine), layout.release("engines", name));
  const ca = new CertificateAuthority(layout.caDir);
  await ca.ensureRoot("test");
  writeTrust(layout);
  for (const part of context.parts)
    await ca.ensureServer(
      secretOf(part, layout),
      readableBy(userOf(config, part)),
      "server",
      NAMES,
    );
  const pair = (process: "nats" | "registry") => ({
    certFile: layout.secrets(process, "server.crt"),
    keyFile: layout.secrets(process, "server.key"),
  });
  await ca.ensureClient(layout.secrets("coordinator"), readableBy(0), "client");
  const user = createUser();
  writeOwned(layout.secrets("coordinator", "seed"), user.getSeed(), readableBy(0), 0o400);
  const natsConfig = renderNatsConfig({
    ...{ listen: `127.0.0.1:${ports.nats}`, ...pair("nats"), caFile: layout.rootCert },
    ...{ account: "FLEET", coordinatorKey: user.getPublicKey() },
    issuerKey: createAccount().getPublicKey(),
  });
  writeOwned(
    layout.secrets("nats", "nats.conf"),
    natsConfig,
    readableBy(userOf(config, natsPart)),
    0o440,
  );
  const issuers = layout.secrets("registry", "server.crt");
  const registryConfig = renderRegistryConfig({
    ...{ listen: `127.0.0.1:${ports.registry}`, publicUrl: `https://localhost:${ports.registry}` },
    ...{ storageDir: layout.data("registry"), ...pair("registry") },
    token: { realm: "https://localhost/token", service: "s", issuer: "i", rootCertBundle: issuers },
  });
  writeOwned(
    layout.secrets("registry", "registry.yml"),
    registryConfig,
    readableBy(userOf(config, registryPart)),
    0o440,
  );
  return {
    ...{ context, ports },
    nats: declaredPart(context, natsPart),
    registry: declaredPart(context, registryPart),
  };
}

async function started(t: Test, part: Part): Promise<Running> {
  await part.prepare?.();
  const running = await part.start();
  t.teardown(async () => {
    running.kill();
    await running.exited;
  });
  for (const end = Date.now() + 120_000; !(await part.isHealthy()); await sleep(50))
    if (Date.now() > end) throw new Error(`${part.name} does not answer`);
  return running;
}

/** PEM. Its greeting comes before TLS begins; that nobody is let in without a certificate comes after. */
async function shownByNats({ config, layout }: PartContext): Promise<string> {
  const socket = dial(config.ports.nats, "127.0.0.1");
  await once(socket, "data");
  const secure = connect({ socket, servername: "localhost", ca: readFileSync(layout.rootCert) });
  secure.on("error", () => {});
  await once(secure, "secureConnect");
  const shown = secure.getPeerX509Certificate()!.toString().trim();
  secure.destroy();
  return shown;
}
