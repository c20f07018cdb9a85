import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchDebian } from "../fetch/debian.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { LAYER_REVISION, packLayer } from "./layer.ts";

/** What no image of ours reads: it would only be verified, shipped and scanned. */
const LEFT_OUT = [
  "./usr/share/man",
  "./usr/share/info",
  "./usr/share/locale",
  "./usr/share/lintian",
  "./usr/share/bug",
  "./usr/share/i18n",
];

/** Accounts that images know: root, nobody and the numeric user of jobs. Engines run under numeric ids that need no entry. */
const PASSWD =
  "root:x:0:0:root:/root:/bin/sh\njob:x:10001:10001:job:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP = "root:x:0:\njob:x:10001:\nnogroup:x:65534:\n";

/**
 * Unpacks the pinned packages of a root without running their scripts: the same bytes every time, in seconds. Nothing in our images needs
 * a package database, alternatives or a package manager; what a script would have made and we need is written here.
 * Answers a step folder with `layer.tar.zst`, `layer.json` and the unpacked `root/`.
 */
export async function buildDebianRoot(
  cache: StepCache,
  lock: LockFile,
  name: string,
): Promise<string> {
  const pins = lock.deb[name];
  if (pins === undefined) throw new Error(`the lock has no Debian root ${name}`);
  const debs = await fetchDebian(cache, name, pins);
  return await cache.step(
    `root ${name}`,
    { revision: 4, LAYER_REVISION, debs: resultId(debs), epoch: lock.sourceDateEpoch },
    async (into) => {
      const root = join(into, "root");
      for (const dir of [
        "usr/bin",
        "usr/sbin",
        "usr/lib",
        "usr/lib64",
        "etc",
        "root",
        "proc",
        "sys",
        "dev",
        "run",
        "var",
        "tmp",
        "mnt",
      ]) {
        mkdirSync(join(root, dir), { recursive: true });
      }
      // Debian 12 is usr-merged: packages still ship /bin and /lib, which must land behind these links.
      for (const dir of ["bin", "sbin", "lib", "lib64"]) symlinkSync(`usr/${dir}`, join(root, dir));
      const script = [
        "set -eu",
        "umask 022",
        `for deb in "$1"/*.deb; do`,
        `  dpkg-deb --fsys-tarfile "$deb" | tar --extract --file=- --directory="$2" --keep-directory-symlink --no-same-owner ${LEFT_OUT.map((path) => `--exclude='${path}'`).join(" ")}`,
        "done",
        // Licences stay.
        `find "$2/usr/share/doc" -type f ! -name copyright -delete`,
        `find "$2/usr/share/doc" -xtype l -delete`,
        `find "$2/usr/share/doc" -type d -empty -delete`,
        'chmod 1777 "$2/tmp"',
        'chmod -R u-s,g-s "$2/usr"',
      ].join("\n");
      await command("sh", ["-c", script, "unpack", debs, root], {
        env: { ...process.env, LC_ALL: "C" },
      });
      writeFileSync(join(root, "etc", "passwd"), PASSWD);
      writeFileSync(join(root, "etc", "group"), GROUP);
      writeFileSync(
        join(root, "etc", "nsswitch.conf"),
        "passwd: files\ngroup: files\nhosts: files dns\n",
      );
      await packLayer(root, into, lock.sourceDateEpoch);
    },
  );
}
