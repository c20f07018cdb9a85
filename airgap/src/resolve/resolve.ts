/** Asks the package managers what today's exact versions and digests are: the only source of new pins. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { wheelPlatform } from "../fetch/wheel-platform.ts";
import { licenceOf } from "./licence-of.ts";
import type { DebianPin, WheelPin } from "../lock/lock-file.ts";
import type { WheelSet } from "../lock/roots.ts";

const READ_METADATA = join(
  import.meta.dirname,
  "..",
  "..",
  "recipes",
  "python",
  "read-metadata.py",
);

/** Closure of the packages on an empty system, sorted by name. */
export async function resolveDebian(
  include: readonly string[],
  exclude: readonly string[],
): Promise<DebianPin[]> {
  const empty = mkdtempSync(join(tmpdir(), "airgap-apt-"));
  try {
    const output = await command("apt-get", [
      "-qq",
      "-o",
      `Dir::State::status=/dev/null`,
      "-o",
      `Dir::Cache::archives=${empty}`,
      "-o",
      "APT::Install-Recommends=false",
      "--print-uris",
      "install",
      ...include,
    ]);
    const wanted: string[] = [];
    for (const line of output.split("\n")) {
      const found = /^'[^']+' (\S+?)_(\S+)_\S+\.deb \d+(?: |$)/.exec(line.trim());
      if (!found) continue;
      const [, name = "", version = ""] = found;
      if (!exclude.includes(name)) wanted.push(`${name}=${decodeURIComponent(version)}`);
    }
    return await describeDebian(wanted);
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

/** Size and SHA-256 of exact versions, from the signed package lists (`--print-uris` tells MD5 alone). */
async function describeDebian(wanted: readonly string[]): Promise<DebianPin[]> {
  const stanzas = (await command("apt-cache", ["show", ...wanted])).split("\n\n");
  const pins = new Map<string, DebianPin>();
  for (const stanza of stanzas) {
    const field = (name: string): string =>
      new RegExp(`^${name}: (.*)$`, "m").exec(stanza)?.[1] ?? "";
    const name = field("Package");
    if (name !== "")
      pins.set(name, {
        name,
        version: field("Version"),
        sha256: field("SHA256"),
        size: Number(field("Size")),
      });
  }
  return [...pins.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Wheels for CPython 3.11 on x86-64 Linux, dependencies included unless told otherwise, sorted by name. */
export async function resolveWheels({
  requirements,
  noDependencies,
  inImage = false,
}: WheelSet): Promise<WheelPin[]> {
  const output = await command("python3", [
    "-m",
    "pip",
    "install",
    "--dry-run",
    "--ignore-installed",
    "--quiet",
    "--report=-",
    ...wheelPlatform(inImage),
    `--target=${join(tmpdir(), "airgap-unused")}`,
    ...(noDependencies ? ["--no-deps"] : []),
    ...requirements,
  ]);
  const report = JSON.parse(output) as {
    install: {
      metadata: { name: string; version: string };
      download_info: { url: string; archive_info: { hashes: { sha256: string } } };
    }[];
  };
  const texts = await readMetadata(report.install.map((wheel) => wheel.download_info.url));
  return report.install
    .map(({ metadata, download_info: from }) => ({
      name: metadata.name.toLowerCase().replaceAll(/[-_.]+/g, "-"),
      version: metadata.version,
      file: decodeURIComponent(new URL(from.url).pathname.split("/").at(-1) ?? ""),
      sha256: from.archive_info.hashes.sha256,
      licence: licenceOf(texts[from.url] ?? ""),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** METADATA of each wheel, by its URL; pip's report lacks the fields of metadata that is newer than pip. */
async function readMetadata(urls: readonly string[]): Promise<Record<string, string>> {
  const answer = await command("python3", [READ_METADATA], { input: urls.join("\n") });
  return JSON.parse(answer) as Record<string, string>;
}
