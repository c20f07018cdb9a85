/**
 * The verifier as one HTML file that opens from disk: `node verifier/build/verifier-page.ts FILE`. Its policy names the hash of its one script and
 * its one style, and allows nothing else: no connection, no picture, no frame, no form, no other script.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const PAGE = join(import.meta.dirname, "../src/page");
const BROWSERS = ["chrome120", "firefox121", "safari17.2"];

/** The same bytes for the same sources. */
export async function verifierPage(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: PAGE,
    entryPoints: ["main.ts"],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: BROWSERS,
    charset: "utf8",
    legalComments: "none",
    logLevel: "error",
  });
  const script = `\n${outputFiles[0]!.text}`;
  const style = `\n${readFileSync(join(PAGE, "page.css"), "utf8")}`;
  // Either would end its element early.
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
    throw new Error("the page's script or style holds an end tag");
  const policy = [
    "default-src 'none'",
    `script-src '${sourceHash(script)}'`,
    `style-src '${sourceHash(style)}'`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  const parts: Readonly<Record<string, string>> = { policy, style, script };
  return readFileSync(join(PAGE, "page.html"), "utf8").replaceAll(
    /\{\{(policy|style|script)\}\}/g,
    (_, part) => parts[part]!,
  );
}

function sourceHash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

if (import.meta.main) writeFileSync(process.argv[2] ?? "sov-verify.html", await verifierPage());
