/** One thing that the supervisor keeps running: a process of its own user, or a container of the bundle's images. */
export type Part = {
  name: string;
  /** Parts that must be healthy before this one starts for the first time. */
  after: readonly string[];
  /** Ends what a supervisor that was killed left running; nothing is fine. */
  endLeftover: () => Promise<void>;
  /**
   * Instead of {@link endLeftover} before a start: what runs goes on beside the one that starts, until the function that this resolves with is called.
   * For a part whose port must never be closed.
   */
  setAside?: () => Promise<() => Promise<void>>;
  /** Runs before each start, as root: makes sockets' folders, writes what the part reads. */
  prepare?: () => Promise<void>;
  /** Asked ten times a second: while false it does not run, and nobody is told of it. @default always */
  isWanted?: () => boolean;
  /** Paths of the release that it runs, to be hashed before it starts. @default none: a program of the host */
  runs?: readonly string[];
  /** Starts it; everything is read afresh, so that a restart sees a renewed certificate or a switched release. */
  start: () => Promise<Running>;
  /** True once the part answers; asked every half second until it does, every ten seconds later. */
  isHealthy: () => Promise<boolean>;
  /** From start to first health before it counts as failed, milliseconds. */
  startTimeoutMs: number;
  /** So long it may run without an answer, milliseconds. @default 60000 */
  silenceLimitMs?: number;
  /** From the stop signal to SIGKILL, milliseconds. */
  stopGraceMs: number;
  /** Gives up what the supervisor itself holds for it, once it has ended for good: the next supervisor holds the same anew. */
  giveUp?: () => void;
  /** Shown by `appliance status`: null when the part listens on no port. */
  port: number | null;
  version: string;
};

/** A started part. */
export type Running = {
  /** Of the process, or of the container's first process; null when it is not known. */
  pid: number | null;
  /** SHA-256 in hex of the image's manifest, as the container engine names what it runs; absent for a process. */
  image?: string | null;
  /** Resolves, never rejects, with how it ended: an exit code or a signal's name. */
  exited: Promise<string>;
  /** Asks it to end; a process that has just ended by itself is fine. */
  stop: () => void;
  /** Ends it now. */
  kill: () => void;
  /** This process may end before it does. */
  letGo?: () => void;
};
