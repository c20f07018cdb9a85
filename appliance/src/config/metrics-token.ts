/** The tokens by which `GET /metrics` is read: one is our own Prometheus', the other one the customer's. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { secretOf } from "@resontech/frame/define-part";
import { type Layout, uidOf } from "@resontech/frame/layout";
import { prometheus, SCRAPE_TOKEN } from "@resontech/prometheus/part";
import type { PartContext } from "../parts/context.ts";
import { readableBy, writeOwned } from "./owned-file.ts";

/** What the coordinator takes. */
export function metricsTokenFiles(layout: Layout): string[] {
  return [ownTokenFile(layout), customersTokenFile(layout)];
}

/** Makes what is missing. The own one lies with the coordinator and, the same again, with Prometheus. */
export function ensureMetricsTokens(context: PartContext): void {
  const { layout } = context;
  for (const file of metricsTokenFiles(layout)) if (!existsSync(file)) writeToken(context, file);
  const { uidBase } = context.config;
  const token = readToken(ownTokenFile(layout));
  writeOwned(prometheusTokenFile(layout), token, readableBy(uidBase + prometheus.user), 0o440);
}

export function readCustomersToken(layout: Layout): string {
  return readToken(customersTokenFile(layout));
}

/** The one before is void at once. */
export function rotateCustomersToken(context: PartContext): string {
  return writeToken(context, customersTokenFile(context.layout));
}

export function prometheusTokenFile(layout: Layout): string {
  return secretOf(prometheus, layout, SCRAPE_TOKEN);
}

function ownTokenFile(layout: Layout): string {
  return layout.secrets("coordinator", "own-metrics.token");
}

function customersTokenFile(layout: Layout): string {
  return layout.secrets("coordinator", "metrics.token");
}

function readToken(file: string): string {
  return readFileSync(file, "utf8").trim();
}

/** A new one, for the coordinator to read. */
function writeToken({ config }: PartContext, file: string): string {
  const token = randomBytes(32).toString("base64url");
  writeOwned(file, token, readableBy(uidOf(config, "coordinator")), 0o440);
  return token;
}
