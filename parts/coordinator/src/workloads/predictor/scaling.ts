/** How many replicas it has: as many as calls ask for, within these bounds. */
export type Scaling = {
  /** 0: none while nobody calls. */
  min: number;
  max: number;
  /** Calls, under way and waiting, that one replica is there for. */
  targetOngoing: number;
  /** Calls a second that one replica is there for; absent: they count for nothing. */
  targetRequestsPerSecond?: number;
  /** How busy its device is to be, 0 to 1; absent likewise. */
  targetDeviceUse?: number;
  /** Too many replicas for so long: one goes, or sleeps, and the next one after as long again. Absent: as {@link SCALING} of the reducer has it. */
  downAfterMs?: number;
};
