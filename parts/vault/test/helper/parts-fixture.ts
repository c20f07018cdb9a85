/** The vault's parts in the test's own process, on real files, beside a log that takes everything at once. */
import { randomBytes } from "node:crypto";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { Turns } from "@resontech/frame/turns";
import type { Test } from "tap";
import { type OpenedVault, openParts } from "../../src/open-parts.ts";
import type { VaultParts } from "../../src/parts.ts";
import type { KeyName } from "../../src/keys/key-table.ts";
import type { Act } from "../../src/record/acts.ts";
import { Destruction } from "../../src/privacy/destruction.ts";
import { Erasures } from "../../src/privacy/erasure.ts";
import { Intake } from "../../src/privacy/intake.ts";
import { Retention } from "../../src/privacy/retention.ts";
import { sealValue } from "../../src/privacy/sealed-value.ts";
import { silent } from "@resontech/audit-out/testing/silent";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { VaultFixture } from "./vault-fixture.ts";

export const ORIGIN = "box.audit.acme/2026";

export class PartsFixture implements Disposable {
  readonly config: VaultConfig;
  readonly opened: OpenedVault;
  readonly parts: VaultParts;
  readonly erasures: Erasures;
  readonly retention: Retention;
  #sealed = 0;

  private constructor(config: VaultConfig, opened: OpenedVault) {
    this.config = config;
    this.opened = opened;
    const witnessed = async () => ({
      needsWitness: false,
      witnessed: false,
      mayGoOn: true,
      witnessedSize: 0,
    });
    const record = {
      connection: { spooled: async () => null, witnessed },
      durableInTime: async () => ({ index: 0 }),
    };
    this.parts = {
      ...{
        ...opened,
        config,
        record: record as never,
        intake: new Intake(opened.keys, opened.store),
      },
      ...{ turns: new Turns(), log: silent, signal: new AbortController().signal },
    };
    const destruction = new Destruction(this.parts);
    this.erasures = new Erasures(this.parts, destruction);
    this.retention = new Retention(this.parts, destruction);
  }

  static async open(t: Test): Promise<PartsFixture> {
    const { config } = new VaultFixture(temporaryFolder(t));
    // The vault has a process of its own; a test's process is other tests', too.
    t.teardown(() => delete process.env["SQLITE_TMPDIR"]);
    return new PartsFixture(config, await openParts(config));
  }

  /** The same files in another life of the process. */
  async reopened(): Promise<PartsFixture> {
    this[Symbol.dispose]();
    return new PartsFixture(this.config, await openParts(this.config));
  }

  [Symbol.dispose](): void {
    this.opened[Symbol.dispose]();
  }

  async seal(name: KeyName, count: number, valueBytes = 16, origin = ORIGIN): Promise<void> {
    const { keys, store } = this.parts;
    const key = await keys.keyFor(name);
    for (const end = this.#sealed + count; this.#sealed < end; ) {
      const rows = Array.from({ length: Math.min(1_000, end - this.#sealed) }, () => {
        const commitment = randomBytes(32);
        const sealed = sealValue(
          key,
          commitment,
          randomBytes(32).toString("hex"),
          "v".repeat(valueBytes),
        );
        return { origin, index: this.#sealed++, field: "src.addr", commitment, ...name, sealed };
      });
      store.add(rows);
    }
  }

  /** An erasure that the log knows of and nothing was done for yet. @returns its op */
  erasureAsked(subject: string): string {
    // As an older release wrote it.
    const people = { requester: "usr-dpo", approvers: ["usr-a", "usr-b"] };
    const asked = { subject, request: "req-1", legalBasis: "gdpr-17", ...people };
    return this.#asked({ kind: "erasure", subject, request: asked }, "privacy.erasure", {
      kind: "user",
      id: subject,
    });
  }

  retentionAsked(before: string): string {
    const request = { class: "disclosures", before };
    return this.#asked({ kind: "retention", subject: null, request }, "privacy.retention", {
      kind: "log",
      id: "vault",
    });
  }

  #asked(
    act: Pick<Act, "kind" | "subject" | "request">,
    type: "privacy.erasure" | "privacy.retention",
    object: { kind: string; id: string },
  ): string {
    const { acts, outbox } = this.parts;
    const op = crypto.randomUUID();
    const detail = type === "privacy.retention" ? { before: "2026-01-01T00:00:00.000Z" } : {};
    acts.begin({ ...act, op }, {
      type,
      op,
      phase: "requested",
      actor: { sub: "usr-dpo", kind: "operator" },
      object,
      detail,
    } as never);
    outbox.answered(outbox.lastPseq, {
      origin: ORIGIN,
      index: 1_000_000 + outbox.lastPseq,
      leafHash: "",
    });
    acts.advance(op, "requested");
    return op;
  }
}
