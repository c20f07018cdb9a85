/**
 * Where members run. A substrate runs a member, in a network, with devices and files, and proves that nothing is left. It knows neither
 * coordinator nor object store, and nobody else knows what it is made of.
 */
import type { Enclosure, Kept, Work } from "./enclosure.ts";

/** An enclosure as it was found; `fence` as {@link formatFence} writes it. */
export type FoundEnclosure = { name: string; member: string; fence: string };

export interface Substrate {
  /** No message to people names a place below one of these. */
  readonly hiddenPaths: readonly string[];
  /** A member's own, made or not: nothing is done or asked by this call. */
  enclosure(work: Work, kept: Kept): Enclosure;
  /** Whatever there is of this instance's members, by whichever process it was made. */
  list(until: AbortSignal): Promise<FoundEnclosure[]>;
  /** Ends and removes one that no record knows. */
  discard(found: FoundEnclosure, until: AbortSignal): Promise<void>;
  /** Removes the area of a member, also of one that no record knows; true when nothing is left. */
  discardArea(member: string): Promise<boolean>;
  /** Removes an attempt's network unless a member is still on it; true when it is gone. */
  discardNetwork(attempt: string): Promise<boolean>;
  /** At a start: removes the networks of all other attempts, and closes what a former process had opened. Members that go on open theirs. */
  keepNetworks(attempts: ReadonlySet<string>, until: AbortSignal): Promise<void>;
  /** Whether every network was still closed; what was open is closed again. @throws when it can't be */
  closeNetworks(): Promise<boolean>;
}
