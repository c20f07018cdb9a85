import { join } from "node:path";
import react from "@vitejs/plugin-react";
import type { InlineConfig } from "vite";

/** What a release's pages and those of a developer have in common. @param room folder of the dashboard @default this one */
export function dashboardOptions(room: string = join(import.meta.dirname, "..")): InlineConfig {
  return {
    root: room,
    configFile: false,
    logLevel: "error",
    plugins: [react()],
    // A package of this tree brings a React of its own, for terminals.
    resolve: { dedupe: ["react", "react-dom"] },
  };
}
