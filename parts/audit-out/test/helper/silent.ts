import { pino } from "pino";

export const silent = pino({ level: "silent" });
