/**
 * What members and their node use, with each beat. Columns instead of objects: names are sent once, and 24 members fit into 2 kB. A quantity is KiB, so
 * that it has few digits, and a limit, which is never small, MiB. What the kernel does not say is null, and a column of nulls is absent: never 0.
 */
import { type Static, Type } from "typebox";
import { Bytes } from "./agent-fields.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const MAX_MEMBERS = 1024;
const Count = Type.Integer({ minimum: 0 });
const Column = Type.Optional(Type.Array(Nullable(Count), { maxItems: MAX_MEMBERS }));

/** Columns of {@link MemberUses}: a value for each member. What counts up counts from the start of the member's container. */
const COLUMNS = {
  /** Of all processors together. */
  cpuMs: Column,
  /** What can't be given back: without files that are only cached. */
  memoryKib: Column,
  memoryPeakKib: Column,
  memoryLimitMib: Column,
  diskReadKib: Column,
  diskWrittenKib: Column,
  networkReceivedKib: Column,
  networkSentKib: Column,
} as const;
export const USE_COLUMNS = Object.keys(COLUMNS) as UseColumn[];
export type UseColumn = keyof typeof COLUMNS;

/** `held`: places in the beat's own list. A member that has just ended is told once more, as it was last. */
export const MemberUses = Type.Object(
  { held: Type.Array(Count, { maxItems: MAX_MEMBERS }), ...COLUMNS },
  closed,
);
export type MemberUses = Static<typeof MemberUses>;

/** What counts up counts from the start of the node. */
export const NodeUse = Type.Object(
  {
    processors: Type.Optional(Count),
    /** Of all processors together. */
    cpuMs: Type.Optional(Count),
    memoryInUseBytes: Type.Optional(Bytes),
    memoryBytes: Type.Optional(Bytes),
    /** Of the disk that holds the agent's data, and with them the members'. */
    diskInUseBytes: Type.Optional(Bytes),
    diskBytes: Type.Optional(Bytes),
    /** Of inputs that it keeps for jobs to come; absent where it may keep none. */
    cacheInUseBytes: Type.Optional(Bytes),
    /** Of real network devices. */
    networkReceivedBytes: Type.Optional(Bytes),
    networkSentBytes: Type.Optional(Bytes),
  },
  closed,
);
export type NodeUse = Static<typeof NodeUse>;
