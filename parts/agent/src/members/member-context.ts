import type { Logger } from "pino";
import type { NodeRecords } from "../audit/node-records.ts";
import type { CoordinatorClient, MemberRef } from "../bus/coordinator-client.ts";
import type { InputCache } from "../cache/input-cache.ts";
import type { Uploader } from "../outputs/uploader.ts";
import type { Enclosure } from "../substrate/enclosure.ts";
import type { Substrate } from "../substrate/substrate.ts";
import type { MemberJournal } from "./member-journal.ts";
import type { MemberStore } from "./member-record.ts";
import type { MemberUsages } from "./member-usages.ts";
import type { TailLimit } from "./tail-limit.ts";

/** What every member works with: one of each on a node. */
export type MemberTools = {
  store: MemberStore;
  coordinator: Pick<CoordinatorClient, "desired" | "stage" | "sign" | "pullToken" | "tail">;
  substrate: Substrate;
  uploader: Pick<Uploader, "upload">;
  tailLimit: TailLimit;
  usages: Pick<MemberUsages, "follow">;
  cache: Pick<InputCache, "follow" | "find" | "begin">;
  /** PEM of who vouches for the doors from which it fetches, as of now. */
  doorCa: () => string;
  bootId: string;
  log: Logger;
  /** What this node says in the audit log. */
  records: Pick<NodeRecords, "reported" | "image" | "ended">;
  /** A report was spooled. */
  onReport: () => void;
};

/** One member's own things, for the steps of its life. */
export type MemberContext = {
  tools: MemberTools;
  journal: MemberJournal;
  /** What the substrate has of it. */
  enclosure: Enclosure;
  ref: MemberRef;
  /** It was told to stop, orderly or not. */
  stopped: AbortSignal;
  /** Nothing more of it is told or stored: its fence was withdrawn, or the lease is lost. */
  abandoned: AbortSignal;
};
