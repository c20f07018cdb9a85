/** The sources of another release in a folder of their own, with the packages of this clone: what a test upgrades to, or from. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DEFAULT_CACHE } from "@resontech/airgap/engines";
import { runChild } from "../run-child.ts";
import { type BundleSummary, repository } from "./local-appliance.ts";
import { readRooms } from "../read-rooms.ts";

const ROOMS = "@resontech";
const ARCHIVE_BYTES = 512 * 1024 ** 2;

/** What a test release has that this tree has not. */
export type TestRelease = {
  version: string;
  /** Above that of the release before. */
  releaseNumber: number;
  /** SQL of one more migration of the coordinator's database. */
  migration?: string;
  /** Another Keycloak than this tree's. */
  keycloak?: { version: string; sha256: string };
  /** Its coordinator runs and never gets ready. */
  isNeverHealthy?: boolean;
};

export class ReleaseTree {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * An earlier commit.
   *
   * @param folder an empty one, or none
   * @throws when the clone has no such commit: it was made without history
   */
  static ofCommit(commit: string, folder: string): ReleaseTree {
    const archive = ["-C", repository, "archive", "--format=tar", commit];
    unpack(execFileSync("git", archive, { maxBuffer: ARCHIVE_BYTES }), folder);
    return new ReleaseTree(folder);
  }

  /** This tree as it is, with what is not committed yet. @param folder an empty one, or none */
  static ofThis(folder: string): ReleaseTree {
    const listed = ["-C", repository, "ls-files", "-co", "--exclude-standard", "-z"];
    const files = execFileSync("git", listed, { maxBuffer: ARCHIVE_BYTES, encoding: "utf8" })
      .split("\0")
      .filter((file) => file !== "" && existsSync(join(repository, file)));
    const packed = ["-c", "-C", repository, "--null", "--files-from=-"];
    const archive = execFileSync("tar", packed, {
      ...{ input: files.join("\0"), maxBuffer: ARCHIVE_BYTES },
    });
    unpack(archive, folder);
    return new ReleaseTree(folder);
  }

  /** Makes a release of its own of it. */
  become(release: TestRelease): this {
    const { version, releaseNumber, migration, keycloak, isNeverHealthy = false } = release;
    this.#edit("airgap/lock.json", (text) => {
      const lock = JSON.parse(text) as { maven: Record<string, object> };
      const maven =
        keycloak === undefined
          ? lock.maven
          : { ...lock.maven, keycloak: { ...lock.maven["keycloak"], ...pinOf(keycloak) } };
      return `${JSON.stringify({ ...lock, version, releaseNumber, maven }, null, 2)}\n`;
    });
    if (migration !== undefined)
      this.#edit("parts/coordinator/src/db/migrations.ts", (text) => {
        const before = "\n];\n";
        if (!text.includes(before)) throw new Error("the list of migrations has another form");
        const sql = JSON.stringify(migration);
        const added = `  { version: ${lastVersion(this.folder) + 1}, name: "of-a-test", sql: ${sql} },`;
        return text.replace(before, `\n${added}${before}`);
      });
    if (isNeverHealthy)
      this.#edit(
        "parts/coordinator/src/server.ts",
        (text) => `await new Promise((resolve) => setTimeout(resolve, 86_400_000));\n${text}`,
      );
    return this;
  }

  /** @param out folder of the bundle, which this clone's key signs */
  async build(out: string): Promise<BundleSummary> {
    const program = join(this.folder, "airgap", "src", "main.ts");
    const options = ["--cache", DEFAULT_CACHE, "--refresh-overlay", "--json"];
    const said = await runChild(process.execPath, [program, "build", "--out", out, ...options], {
      ...{ cwd: this.folder, quiet: true },
    });
    return JSON.parse(said.trimEnd().split("\n").at(-1) ?? "") as BundleSummary;
  }

  #edit(path: string, change: (text: string) => string): void {
    const file = join(this.folder, path);
    writeFileSync(file, change(readFileSync(file, "utf8")));
  }
}

function pinOf({ version, sha256 }: { version: string; sha256: string }) {
  return {
    ...{ version, sha256, file: `keycloak-quarkus-dist-${version}.tar.gz` },
    coordinates: `org.keycloak:keycloak-quarkus-dist:${version}:tar.gz`,
  };
}

function lastVersion(folder: string): number {
  const numbers = readdirSync(join(folder, "parts/coordinator/src/db/migrations")).map((name) =>
    Number.parseInt(name, 10),
  );
  return Math.max(...numbers);
}

function unpack(archive: Buffer, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const packages = join(repository, "node_modules");
  const linked = join(folder, "node_modules");
  mkdirSync(join(linked, ROOMS), { recursive: true });
  for (const name of readdirSync(packages))
    if (name !== ROOMS) symlinkSync(join(packages, name), join(linked, name));
  for (const room of readRooms(folder)) {
    const { name } = JSON.parse(readFileSync(join(folder, room, "package.json"), "utf8")) as {
      name: string;
    };
    // A room imports the rooms of its own release.
    symlinkSync(join(folder, room), join(linked, name));
    const own = join(repository, room, "node_modules");
    if (existsSync(own)) symlinkSync(own, join(folder, room, "node_modules"));
  }
}
