export type ActKind = "erasure" | "retention" | "hold" | "disclose" | "refusal";
export type ActState =
  | "asked"
  | "requested"
  | "destroying"
  | "destroyed"
  | "completed"
  | "done"
  | "failed";
