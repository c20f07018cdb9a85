/**
 * Compares Keycloak's realm with what the release and the operator say: once Keycloak answers, and every five minutes. What it finds lies in a file that
 * `appliance status` reads, and each change of it is in the audit log.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { RealmFacts } from "@resontech/frame/finding";
import { readRealm } from "@resontech/keycloak/read-realm";
import { type Drift, realmDrift } from "@resontech/keycloak/realm-drift";
import type { Logger } from "pino";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";
import { applianceAdmin } from "./appliance-admin.ts";
import { ownRealm } from "./own-realm.ts";

const COMPARE_MS = 5 * 60_000;
/** Keycloak is away or on its way up; or a difference is looked at again, as it may be a change under way. */
const AGAIN_MS = 30_000;
const NAMED = 5;

/** What the realm differs in. @throws KeycloakUnreachableError, KeycloakRefusedError */
export async function compareRealm(context: PartContext): Promise<Drift[]> {
  const want = ownRealm(context);
  const have = await readRealm(await applianceAdmin(context), want.realm);
  return realmDrift(want, have?.realm ?? null);
}

/** Reads what the last comparison found; null where there was none since the host's start. */
export function readRealmFacts(layout: Layout): RealmFacts | null {
  try {
    return JSON.parse(readFileSync(factsFile(layout), "utf8")) as RealmFacts;
  } catch {
    return null;
  }
}

export type RealmWatchOptions = {
  layout: Layout;
  compare: () => Promise<Drift[]>;
  /** A realm that changed in what it differs: on record. */
  told: (differences: number) => void;
  log: Logger;
  compareMs?: number;
  againMs?: number;
};

/** Compares the realm over and over until `signal`, and tells when it changed in what it differs. */
export async function watchRealm(options: RealmWatchOptions, signal: AbortSignal): Promise<void> {
  const { compareMs = COMPARE_MS, againMs = AGAIN_MS } = options;
  let isSecondLook = false;
  while (!signal.aborted) {
    let waitMs = againMs;
    try {
      const facts = factsOf(await options.compare());
      isSecondLook = !isSecondLook && facts.differences > 0;
      if (!isSecondLook) {
        tell(options, facts);
        waitMs = compareMs;
      }
    } catch (error) {
      isSecondLook = false;
      options.log.debug({ err: error }, "the realm can't be compared yet");
    }
    await pause(waitMs, undefined, { signal }).catch(() => {});
  }
}

function tell({ layout, told, log }: RealmWatchOptions, facts: RealmFacts): void {
  const before = readRealmFacts(layout) ?? { differences: 0, first: [] };
  writeOwned(factsFile(layout), JSON.stringify(facts), ROOT, 0o600);
  if (JSON.stringify(before) === JSON.stringify(facts)) return;
  log.warn(facts, "the realm of Keycloak changed in what it differs");
  told(facts.differences);
}

function factsOf(drift: readonly Drift[]): RealmFacts {
  return {
    differences: drift.length,
    first: drift.slice(0, NAMED).map(({ kind, name, what }) => `${kind} ${name}: ${what}`),
  };
}

function factsFile(layout: Layout): string {
  return layout.run("realm-facts.json");
}
