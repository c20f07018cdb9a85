import { pino } from "pino";

/** For what a test does not read. */
export const SILENT_LOG = pino({ level: "silent" });
