/** What `prepare` makes of certificates on a whole root: the customer's in the three doors, the appliance's own elsewhere. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AgentConfig } from "@resontech/contracts/agent-config";
import { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { processConfigSchema } from "@resontech/frame/process-config";
import { inferenceGateway } from "@resontech/inference-gateway/part";
import { PARTS } from "@resontech/parts";
import t from "tap";
import { Value } from "typebox/value";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { config as installed } from "@resontech/installer/testing/request";
import { evaluateCertificate } from "../../src/ca/decisions/evaluate-certificate.ts";
import { giveUpCustomers, keepNext, putInForce } from "../../src/ca/door-certificate.ts";
import { prepare, renewCertificates } from "../../src/first-boot/prepare.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { CustomersPki } from "@resontech/house/customers-pki";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const NAME = "gpu.hospital.example";
const DOORS = ["door", "s3Front", "registry"];
const INNER = ["nats", "keycloak"];

t.test(
  "each start keeps the customer's certificate in the doors, and nothing else changes for it",
  asRoot,
  async (t) => {
    const root = temporaryFolder(t);
    const layout = new Layout(root, `doors-${process.pid}`);
    t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
    mkdirSync(layout.release("app", "policies"), { recursive: true });
    const retention = join(import.meta.dirname, "..", "..", "..", "policies", "retention.json");
    cpSync(retention, layout.release("app", "policies", "retention.json"));
    const context: PartContext = {
      layout,
      config: { ...installed, keyKind: "dev", instance: layout.instance, name: NAME },
      release: { version: "1", images: [], tree: [], engines: {} } as unknown as ReleaseManifest,
      parts: PARTS,
    };
    const read = (process: string, name = "server.crt"): string =>
      readFileSync(layout.secrets(process, name), "utf8");
    const shown = (): Record<string, string> =>
      Object.fromEntries([...DOORS, ...INNER].map((process) => [process, read(process)]));

    await prepare(context);
    const own = shown();
    await prepare(context);
    t.same(shown(), own, "another start changes nothing");
    for (const [process, schema] of [
      ["coordinator", CoordinatorConfig],
      [inferenceGateway.name, processConfigSchema(inferenceGateway)],
      ["agent", AgentConfig],
    ] as const) {
      const config: unknown = JSON.parse(readFileSync(layout.processConfig(process), "utf8"));
      t.same([...Value.Errors(schema, config)], [], process);
      t.match(JSON.stringify(config), /ca\/trust\.crt/);
    }

    const pki = new CustomersPki(join(root, "pki"));
    const { cert, key } = pki.leaf({ names: `DNS:${NAME}` });
    const brought = { cert: cert + pki.intermediate, key, ca: pki.ca };
    keepNext(layout, evaluateCertificate(brought, NAME, Date.now()));
    await prepare(context);
    t.same(shown(), own, "one that waits is not shown");
    putInForce(layout);
    await prepare(context);
    for (const process of DOORS) {
      t.equal(read(process), brought.cert, process);
      t.equal(statSync(layout.secrets(process, "server.key")).mode & 0o777, 0o440);
    }
    for (const process of INNER) t.equal(read(process), own[process], process);

    const intermediate = read("coordinator", "intermediate.crt");
    await renewCertificates(context);
    for (const process of DOORS) t.equal(read(process), brought.cert, "yours stays");
    for (const process of INNER) t.not(read(process), own[process], "made anew");
    t.equal(read("coordinator", "intermediate.crt"), intermediate, "nodes stay known");

    giveUpCustomers(layout);
    await prepare(context);
    for (const process of DOORS) {
      const args = ["verify", "-CAfile", layout.rootCert, layout.secrets(process, "server.crt")];
      t.match(execFileSync("openssl", args, { encoding: "utf8" }), /OK/, process);
    }
  },
);
