import { dirname, join } from "node:path";
import { shippedProgram } from "@resontech/house/shipped-program";

/** Folder of the pages as they ship, beside the program that gives them out. */
export function shippedPages(): string {
  return join(dirname(shippedProgram("coordinator")), "dashboard");
}
