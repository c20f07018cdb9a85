/** Writes the file that ships beside this one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { applianceDashboard } from "./appliance-dashboard.ts";

writeFileSync(
  join(import.meta.dirname, "appliance.json"),
  `${JSON.stringify(applianceDashboard(), null, 2)}\n`,
);
