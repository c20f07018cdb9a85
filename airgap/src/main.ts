/** `airgap`: the connected side. The only code that ever fetches. */
import { join, resolve } from "node:path";
import { Command } from "commander";
import { DEFAULT_CACHE } from "./engines/ensure-engine.ts";
import { refreshLock } from "./lock/refresh.ts";
import { buildBundle } from "./release/build.ts";
import { SigningKey } from "./trust/signing-key.ts";
import { verifyBundle } from "./trust/verify-bundle.ts";

const program = new Command("airgap")
  .description("Builds, checks and pins the bundle of the sovereign appliance.")
  .showHelpAfterError();

program
  .command("build")
  .description("fetch what the lock pins, build every part, write and verify one signed bundle folder")
  .requiredOption("--out <dir>", "folder of the bundle; replaced as a whole")
  .option("--cache <dir>", "content-addressed cache of fetched and built parts", DEFAULT_CACHE)
  .option("--signing-key <file>", "Ed25519 key, PKCS#8 PEM, mode 0600 (default: a development key of this machine)")
  .option("--release", "a release build: needs --signing-key and uses the committed lock alone", false)
  .option("--refresh-overlay", "when a pinned Debian package is gone, go on with today's from an untracked overlay", false)
  .option("--json", "end with one JSON line", false)
  .addHelpText(
    "after",
    "\nExamples:\n  airgap build --out ./bundle\n  airgap build --out /media/usb --release --signing-key ~/release.pem",
  )
  .action(
    async (options: {
      out: string;
      cache: string;
      signingKey?: string;
      release: boolean;
      refreshOverlay: boolean;
      json: boolean;
    }) => {
      if (options.release && (options.signingKey === undefined || options.refreshOverlay)) {
        program.error("a release build needs --signing-key and takes no --refresh-overlay", { exitCode: 2 });
      }
      const result = await buildBundle({
        out: resolve(options.out),
        cacheDirectory: resolve(options.cache),
        signingKey: options.signingKey ?? null,
        refreshOverlay: options.refreshOverlay,
      });
      if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
      else {
        const rows = [...Object.entries(result.parts).sort((a, b) => b[1] - a[1]), ["in all", result.bytes] as const];
        for (const [part, bytes] of rows) process.stdout.write(`${part.padEnd(28)} ${(bytes / 1e6).toFixed(1).padStart(9)} MB\n`);
        process.stdout.write(
          `\n${result.bundle}\nrelease ${result.version} sha256:${result.releaseDigest}\n${result.seconds} s, of which ${result.downloadSeconds} s download\n`,
        );
      }
    },
  );

program
  .command("verify <bundle>")
  .description("check every signature, byte and reference of a bundle folder")
  .option("--key <file>", "PEM of the key that signed it", join(DEFAULT_CACHE, "dev-signing-key.pem"))
  .action(async (bundle: string, options: { key: string }) => {
    const verified = await verifyBundle(resolve(bundle), { publicKeyPem: SigningKey.read(options.key).publicPem });
    process.stdout.write(
      `${verified.release.version}: ${verified.release.blobs.length} blobs, ${(verified.bytes / 1e6).toFixed(0)} MB, all as signed\n`,
    );
  });

program
  .command("lock")
  .description("the pins of every engine and package")
  .command("refresh")
  .description("resolve every Debian root and wheel set anew and write airgap/lock.json; shows what moved")
  .action(async () => {
    const changes = await refreshLock();
    for (const change of changes)
      process.stdout.write(`${change.set.padEnd(12)} ${change.name.padEnd(28)} ${change.from ?? "—"} → ${change.to ?? "—"}\n`);
    process.stdout.write(`${changes.length} pins moved\n`);
  });

try {
  await program.parseAsync();
} catch (error) {
  const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
  process.stderr.write(`airgap: ${code}${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
