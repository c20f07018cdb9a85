import type {
  ApprovalChange,
  Change,
  FindingsChange,
  LogChange,
} from "@resontech/contracts/live-feed";

/**
 * What changes, noted by the code that writes it, in the same transaction. Whoever listens hears of it after the commit, in the order of
 * the notes, and never of what was rolled back.
 */
export interface Changes {
  note(change: Exclude<Change, LogChange | ApprovalChange | FindingsChange>): void;
}
