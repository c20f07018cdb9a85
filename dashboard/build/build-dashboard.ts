/** Compiles the dashboard into a folder: `index.html`, and `assets/` whose names hold the digest of what is in them. Needs no network. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "vite";
import { dashboardOptions } from "./dashboard-options.ts";

/**
 * @param into an empty folder; each file but the page gets a `.br` beside it, compressed once for all who ask
 * @returns the files whose text is in what came out
 */
export async function buildDashboard(into: string): Promise<string[]> {
  const built = await build({
    ...dashboardOptions(),
    build: {
      outDir: into,
      emptyOutDir: true,
      target: "es2024",
      // The page's policy lets in no script and no style that is written into another file.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        // Pages take constants from the contracts, whose schemas and the library behind them stay out.
        treeshake: { manualPureFunctions: ["Type", "Nullable", "kind"] },
      },
    },
  });
  const assets = join(into, "assets");
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
  }
  return modulesOf(built);
}

function modulesOf(built: Awaited<ReturnType<typeof build>>): string[] {
  // It watches nothing, so it answers what it made.
  const outputs = [built].flat().flatMap((one) => ("output" in one ? one.output : []));
  return outputs.flatMap((chunk) =>
    chunk.type === "chunk"
      ? Object.entries(chunk.modules)
          .filter(([, { renderedLength }]) => renderedLength > 0)
          .map(([file]) => file)
      : [],
  );
}
