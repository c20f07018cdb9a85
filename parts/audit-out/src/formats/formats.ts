import type { ExportFormat } from "@resontech/contracts/audit-out-config";
import { cefLine } from "./cef.ts";
import type { ExportedEvent } from "./exported-event.ts";
import { leafLine } from "./leaf-line.ts";
import { leefLine } from "./leef.ts";
import { ocsfLine } from "./ocsf/ocsf-line.ts";

/** One line for each event, without its end. */
export const FORMATS: Readonly<Record<ExportFormat, (exported: ExportedEvent) => string>> = {
  leaf: leafLine,
  ocsf: ocsfLine,
  cef: cefLine,
  leef: leefLine,
};
