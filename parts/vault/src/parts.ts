import type { VaultConfig } from "@resontech/contracts/vault-config";
import type { Turns } from "@resontech/frame/turns";
import type { Logger } from "pino";
import type { Epochs } from "./epochs/epochs.ts";
import type { KeyTable } from "./keys/key-table.ts";
import type { Acts } from "./record/acts.ts";
import type { CommitmentStore } from "./privacy/commitment-store.ts";
import type { Intake } from "./privacy/intake.ts";
import type { AuditRecord } from "./record/audit-record.ts";
import type { Outbox } from "./record/outbox.ts";

/** What the vault's acts work with. */
export type VaultParts = {
  config: VaultConfig;
  keys: KeyTable;
  store: CommitmentStore;
  acts: Acts;
  outbox: Outbox;
  record: AuditRecord;
  intake: Intake;
  epochs: Epochs;
  /** Nothing is sealed under a key that is being destroyed, and no copy of the keys is made meanwhile. */
  turns: Turns;
  /** Takes what was deleted out of both databases' files. */
  scrub: () => Promise<void>;
  log: Logger;
  /** The vault stops. */
  signal: AbortSignal;
};
