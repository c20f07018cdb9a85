import { join } from "node:path";

/** The folder of the looks of its pages; the image has it, and tests name it. */
export const KEYCLOAK_THEMES = join(import.meta.dirname, "..", "theme");
