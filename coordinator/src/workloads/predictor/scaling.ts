/** How many replicas it has: as many as calls ask for, within these bounds. */
export type Scaling = {
  /** 0: none while nobody calls. */
  min: number;
  max: number;
  /** Calls, under way and waiting, that one replica is there for. */
  targetOngoing: number;
};
