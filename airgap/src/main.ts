/** `airgap`: the connected side. The only code that ever fetches. */
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { DEFAULT_CACHE } from "./engines/ensure-engine.ts";
import { checkLock } from "./resolve/check.ts";
import { LockStaleError, readLock } from "./lock/lock-file.ts";
import { refreshLock } from "./resolve/refresh.ts";
import { type BuildResult, buildBundle, type Profile, PROFILES } from "./release/build.ts";
import { BundleRefusedError, verifyBundle } from "./trust/verify-bundle.ts";

const EXIT = { failed: 1, usage: 2, lockStale: 3, refused: 4 } as const;

const program = new Command("airgap")
  .description("Builds, checks and pins the bundle of the sovereign appliance.")
  .showHelpAfterError()
  .exitOverride()
  .addHelpText(
    "after",
    "\nExit status: 0 done, 1 failed, 2 wrong usage, 3 the lock is stale, 4 the bundle is not what was signed",
  );

program
  .command("build")
  .description(
    "fetch what the lock pins, build every part, write and verify one signed bundle folder",
  )
  .requiredOption("--out <dir>", "folder of the bundle; replaced as a whole")
  .addOption(
    new Option(
      "--profile <name>",
      "job images: `cpu`, or `cuda` with both images for NVIDIA's accelerators beside it",
    )
      .choices(PROFILES)
      .default("cpu"),
  )
  .option(
    "--wheels <dir...>",
    "folders of wheels with an image.json, an image each: torch for ROCm or Intel's devices",
    [],
  )
  .option("--cache <dir>", "content-addressed cache of fetched and built parts", DEFAULT_CACHE)
  .option(
    "--signing-key <file>",
    "Ed25519 key, PKCS#8 PEM, mode 0600 (default: a development key of this machine)",
  )
  .addOption(
    new Option(
      "--release",
      "a release build: needs --signing-key and uses the committed lock alone",
    ).conflicts("refreshOverlay"),
  )
  .option(
    "--refresh-overlay",
    "when a pinned Debian package is gone, go on with today's from an untracked overlay",
    false,
  )
  .option("--json", "end with one JSON line", false)
  .addHelpText(
    "after",
    "\nExamples:\n  airgap build --out ./bundle\n  airgap build --out ./bundle --profile cuda\n  airgap build --out /media/usb/bundle --release --signing-key ~/release.pem",
  )
  .action(
    async (options: {
      out: string;
      profile: Profile;
      wheels: string[];
      cache: string;
      signingKey?: string;
      release?: true;
      refreshOverlay: boolean;
      json: boolean;
    }) => {
      if (options.release && options.signingKey === undefined)
        program.error("error: --release needs --signing-key");
      const result = await buildBundle({
        out: resolve(options.out),
        profile: options.profile,
        wheelFolders: options.wheels.map((folder) => resolve(folder)),
        cacheDirectory: resolve(options.cache),
        signingKey: options.signingKey ?? null,
        refreshOverlay: options.refreshOverlay,
      });
      process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : describe(result));
    },
  );

program
  .command("verify <bundle>")
  .description("check every signature, byte and reference of a bundle folder")
  .option(
    "--key <file>",
    "PEM of the public key that signed it (or of its private key)",
    join(DEFAULT_CACHE, "dev-signing-key.pem"),
  )
  .addHelpText("after", "\nExample:\n  airgap verify /media/usb/bundle --key vendor-public.pem")
  .action(async (bundle: string, options: { key: string }) => {
    const publicKeyPem = createPublicKey(readFileSync(options.key)).export({
      type: "spki",
      format: "pem",
    });
    const { release, bytes } = await verifyBundle(resolve(bundle), { publicKeyPem });
    process.stdout.write(
      `${release.version}: ${release.blobs.length} blobs, ${megabytes(bytes)}, all as signed\n`,
    );
  });

const lock = program.command("lock").description("the pins of every engine and package");

lock
  .command("refresh")
  .description(
    "resolve every Debian root and wheel set anew and write airgap/lock.json; shows what moved",
  )
  .addHelpText("after", "\nExample:\n  airgap lock refresh && git diff airgap/lock.json")
  .action(async () => {
    const changes = await refreshLock();
    for (const { set, name, from, to } of changes)
      process.stdout.write(`${set.padEnd(12)} ${name.padEnd(28)} ${from ?? "—"} → ${to ?? "—"}\n`);
    process.stdout.write(`${changes.length} pins moved\n`);
  });

lock
  .command("check")
  .description("tell whether everything that the lock pins is still served")
  .action(async () => {
    process.stdout.write(`${await checkLock(readLock(false))} pins, none of them stale\n`);
  });

function describe(result: BuildResult): string {
  const rows = [
    ...Object.entries(result.parts).sort((a, b) => b[1] - a[1]),
    ["in all", result.bytes] as const,
  ];
  return [
    ...rows.map(([part, bytes]) => `${part.padEnd(28)} ${megabytes(bytes).padStart(12)}`),
    "",
    result.bundle,
    `release ${result.version} sha256:${result.releaseDigest}`,
    `${result.seconds} s, of which ${result.downloadSeconds} s waiting for downloads`,
    "",
  ].join("\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function exitStatusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (error instanceof LockStaleError) return EXIT.lockStale;
  return error instanceof BundleRefusedError ? EXIT.refused : EXIT.failed;
}

// What is built is the same whatever mask the builder's shell has.
process.umask(0o022);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitStatusOf(error);
  // Commander has said what is wrong already.
  if (!(error instanceof CommanderError)) {
    const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
    process.stderr.write(
      `airgap: ${code}${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}
