/** The customer's token by which `GET /metrics` is read. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { coordinator, METRICS_TOKENS } from "@resontech/coordinator/part";
import { secretOf } from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { type PartContext, userOfPart } from "../parts/context.ts";
import { readableBy, writeOwned } from "../config/owned-file.ts";

export function readCustomersToken(layout: Layout): string {
  return readToken(customersTokenFile(layout));
}

/** The one before is void at once. */
export function rotateCustomersToken(context: PartContext): string {
  return writeToken(context, customersTokenFile(context.layout));
}

function customersTokenFile(layout: Layout): string {
  return secretOf(coordinator, layout, METRICS_TOKENS.customers);
}

function readToken(file: string): string {
  return readFileSync(file, "utf8").trim();
}

/** A new one, for the coordinator to read. */
function writeToken(context: PartContext, file: string): string {
  const token = randomBytes(32).toString("base64url");
  writeOwned(file, token, readableBy(userOfPart(context, "coordinator")), 0o440);
  return token;
}
