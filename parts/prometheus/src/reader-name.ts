/** Whose certificate has this name may ask Prometheus; no server and no node has it. */
export const READER_NAME = "prometheus-reader";
