/** Secrets of declared parts: made once, and what one part has of another follows it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createPrivateKey } from "node:crypto";
import { fromSeed } from "@nats-io/nkeys";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { coordinator, METRICS_TOKENS, REALM_KEY_FILES } from "@resontech/coordinator/part";
import { type PartDeclaration, secretOf, userOf } from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import { prometheus, SCRAPE_TOKEN } from "@resontech/prometheus/part";
import { s3 } from "@resontech/s3/part";
import t from "tap";
import { readCustomersToken, rotateCustomersToken } from "../../src/commands/metrics-token.ts";
import {
  copyPartSecrets,
  makePartFolders,
  makePartSecrets,
} from "../../src/first-boot/prepare-part.ts";
import type { PartContext } from "../../src/parts/context.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const config = { uidBase: 64_100 } as ApplianceConfig;

function contextIn(root: string): PartContext {
  const parts = [prometheus, coordinator, s3];
  return { layout: new Layout(root, "test"), config, parts } as unknown as PartContext;
}

function makeAll(context: PartContext): void {
  for (const part of context.parts) makePartFolders(context, part);
  for (const part of context.parts) makePartSecrets(context, part);
  for (const part of context.parts) copyPartSecrets(context, part);
}

t.test("tokens are made once, differ, and only the customer's is rotated", asRoot, async (t) => {
  const context = contextIn(t.testdir());
  const fileOf = (part: PartDeclaration, name: string): string =>
    secretOf(part, context.layout, name);
  const read = (): string[] =>
    Object.values(METRICS_TOKENS).map((name) => readFileSync(fileOf(coordinator, name), "utf8"));
  makeAll(context);
  const [own, customers] = read();
  t.match(own, /^[\w-]{43}$/);
  t.match(customers, /^[\w-]{43}$/);
  t.not(own, customers);
  const scraped = fileOf(prometheus, SCRAPE_TOKEN);
  t.equal(readFileSync(scraped, "utf8"), own);
  makeAll(context);
  t.same(read(), [own, customers]);
  const next = rotateCustomersToken(context);
  t.equal(readCustomersToken(context.layout), next);
  t.same(read(), [own, next]);
  for (const name of Object.values(METRICS_TOKENS))
    t.match(statSync(fileOf(coordinator, name)), {
      ...{ mode: 0o100440, uid: 0, gid: userOf(config, coordinator) },
    });
  t.equal(statSync(scraped).gid, userOf(config, prometheus));
  // Of a start that was cut: what Prometheus has follows what the coordinator takes.
  writeFileSync(scraped, "old");
  makeAll(context);
  t.equal(readFileSync(scraped, "utf8"), own);
});

t.test("each secret is of the kind that its reader takes", asRoot, async (t) => {
  const context = contextIn(t.testdir());
  makeAll(context);
  const read = (part: PartDeclaration, name: string): string =>
    readFileSync(secretOf(part, context.layout, name), "utf8");
  for (const name of Object.values(REALM_KEY_FILES))
    t.equal(
      createPrivateKey(read(coordinator, name)).asymmetricKeyDetails?.namedCurve,
      "prime256v1",
    );
  const publicKey = (name: string): string =>
    fromSeed(new TextEncoder().encode(read(coordinator, name))).getPublicKey();
  t.match(publicKey("nats-user.seed"), /^U/);
  t.match(publicKey("nats-account.seed"), /^A/);
  t.match(read(coordinator, "session.key"), /^[\w-]{43}$/);
  const pair = read(s3, "admin-key.json");
  t.match(JSON.parse(pair), { accessKeyId: /^RT[0-9A-F]{18}$/, secretAccessKey: /^[\w-]{43}$/ });
  t.equal(read(coordinator, "s3-admin-key.json"), pair);
});
