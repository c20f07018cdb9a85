import t from "tap";
import {
  CRASH_KINDS,
  type CrashKind,
  crashState,
  type ImageFile,
  type ImageFolder,
  keyBlocks,
} from "../audit/crash/crash-state.ts";
import { Disk } from "../audit/crash/disk-model.ts";
import { type Call, encodeMark, readRecording } from "../audit/crash/recording.ts";
import { syncCallOf } from "../audit/crash/sync-calls.ts";
import { seededRandom } from "@resontech/house/seeded-random";

const KINDS = Object.keys(CRASH_KINDS) as CrashKind[];
const ROOT = { path: "", inode: 1, mode: 0o700, bytes: null };
const SECTOR = 512;

const create = (path: string, inode: number): Call => ({ op: "create", path, inode, mode: 0o600 });
const write = (inode: number, text: string, offset = 0): Call => ({
  op: "write",
  inode,
  offset,
  bytes: Buffer.from(text),
});
let nextToken = 1;
function sync(inode: number, isDataOnly = false): Call[] {
  const token = nextToken++;
  return [
    { op: "sync-begin", inode, token, isDataOnly },
    { op: "sync-end", token },
  ];
}

function diskAfter(calls: readonly Call[]): Disk {
  const disk = new Disk([ROOT]);
  for (const call of calls) disk.apply(call);
  return disk;
}

/** Every state that `draws` seeds give of each kind, as name → text. */
function states(
  calls: readonly Call[],
  kinds: readonly CrashKind[] = KINDS,
  draws = 60,
): Record<string, string>[] {
  const disk = diskAfter(calls);
  return kinds.flatMap((kind) =>
    Array.from({ length: draws }, (_, seed) => textsOf(crashState(disk, kind, seededRandom(seed)))),
  );
}

function textsOf(folder: ImageFolder, prefix = ""): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, node] of folder.entries)
    if ("entries" in node) Object.assign(texts, textsOf(node, `${prefix}${name}/`));
    else texts[`${prefix}${name}`] = node.bytes.toString("latin1");
  return texts;
}

const contents = (all: Record<string, string>[], name: string): (string | undefined)[] =>
  [...new Set(all.map((each) => each[name]))].sort((a = "", b = "") => (a < b ? -1 : 1));

t.test("what was synced, name and bytes, is in every state", async (t) => {
  const all = states([create("a", 2), write(2, "kept"), ...sync(2), ...sync(1)]);
  t.same(contents(all, "a"), ["kept"]);
});

t.test(
  "a file whose bytes are synced may still lose its name, and one whose name is synced its bytes",
  async (t) => {
    t.same(contents(states([create("a", 2), write(2, "kept"), ...sync(2)]), "a"), [
      "kept",
      undefined,
    ]);
    const nameless = contents(
      states(
        [create("a", 2), write(2, "kept"), ...sync(1)],
        ["unsynced dropped", "all kept", "torn"],
      ),
      "a",
    );
    t.same(nameless, ["", "\0\0\0\0", "kept"]);
  },
);

t.test("a sync covers what was there when it began, not what came before it ended", async (t) => {
  const [begin, end] = sync(2) as [Call, Call];
  const all = states(
    [create("a", 2), ...sync(1), write(2, "11"), begin, write(2, "22", 2), end],
    ["unsynced dropped", "all kept"],
  );
  t.same(contents(all, "a"), ["11", "1122"]);
});

t.test(
  "a rename over a file leaves the old one or the new one under that name, and neither is lost by it",
  async (t) => {
    const before: Call[] = [
      create("a", 2),
      write(2, "old"),
      ...sync(2),
      ...sync(1),
      create("a.new", 3),
      write(3, "new"),
      ...sync(3),
    ];
    const all = states([...before, { op: "rename", path: "a.new", to: "a" }]);
    t.same(contents(all, "a"), ["new", "old"]);
    t.same(
      contents(states([...before, { op: "rename", path: "a.new", to: "a" }, ...sync(1)]), "a"),
      ["new"],
    );
  },
);

t.test("removals that nobody synced come true each for itself", async (t) => {
  const made: Call[] = [create("a", 2), create("b", 3), ...sync(1)];
  const all = states(
    [...made, { op: "unlink", path: "a" }, { op: "unlink", path: "b" }],
    ["reordered"],
  );
  t.same([...new Set(all.map((each) => Object.keys(each).join("")))].sort(), ["", "a", "ab", "b"]);
  const inOrder = states(
    [...made, { op: "unlink", path: "a" }, { op: "unlink", path: "b" }],
    ["journal cut"],
    3_000,
  );
  t.same(
    [...new Set(inOrder.map((each) => Object.keys(each).join("")))].sort(),
    ["", "ab", "b"],
    "a journal keeps their order",
  );
});

t.test(
  "an unsynced write is torn at sectors, in any order, and no sector is half of it",
  async (t) => {
    const old = "o".repeat(4 * SECTOR);
    const all = states(
      [
        create("a", 2),
        write(2, old),
        ...sync(2),
        ...sync(1),
        write(2, "n".repeat(3 * SECTOR), SECTOR / 2),
      ],
      ["torn"],
      200,
    );
    const found = new Set(all.map((each) => sectorsOf(each["a"]!).map(nameOfSector).join("")));
    t.ok(found.size > 10, `${found.size} ways`);
    const isPossible = (sectors: string): boolean => /^[ox][on][on][oy]$/.test(sectors);
    t.ok([...found].every(isPossible), [...found].join(" "));
    function nameOfSector(sector: string): string {
      const half = SECTOR / 2;
      if (sector === "o".repeat(SECTOR)) return "o";
      if (sector === "n".repeat(SECTOR)) return "n";
      if (sector === "o".repeat(half) + "n".repeat(half)) return "x";
      return sector === "n".repeat(half) + "o".repeat(half) ? "y" : "?";
    }
  },
);

t.test("fdatasync keeps bytes and size, not the mode", async (t) => {
  const disk = diskAfter([
    create("a", 2),
    { op: "chmod", inode: 2, mode: 0o400 },
    write(2, "kept"),
    ...sync(2, true),
    ...sync(1),
  ]);
  const file = crashState(disk, "unsynced dropped", seededRandom(1)).entries.get("a") as ImageFile;
  t.same({ text: file.bytes.toString(), mode: file.mode }, { text: "kept", mode: 0o600 });
});

t.test("what lay in a folder is lost with the folder's name", async (t) => {
  const calls: Call[] = [
    { op: "mkdir", path: "d", inode: 5, mode: 0o700 },
    create("d/a", 2),
    write(2, "kept"),
    ...sync(2),
    ...sync(5),
  ];
  t.same(contents(states(calls), "d/a"), ["kept", undefined]);
  t.same(contents(states([...calls, ...sync(1)]), "d/a"), ["kept"]);
});

t.test("a sync that is left out keeps nothing", async (t) => {
  const disk = new Disk([ROOT]);
  for (const call of [create("a", 2), write(2, "lost"), ...sync(2), ...sync(1)])
    disk.apply(call, (node) => node.path !== "a");
  t.same(textsOf(crashState(disk, "unsynced dropped", seededRandom(1))), { a: "" });
});

t.test("what an earlier life changed is synced by a call of its own name", async (t) => {
  const named = (calls: readonly Call[]): string | null => {
    const disk = diskAfter(calls);
    return syncCallOf(disk.lookup("keys"), disk);
  };
  const made: Call[] = [
    { op: "life" },
    { op: "mkdir", path: "keys", inode: 5, mode: 0o700 },
    create("keys/2026.pem.new", 2),
    write(2, "key"),
    ...sync(2),
    { op: "rename", path: "keys/2026.pem.new", to: "keys/2026.pem" },
  ];
  t.equal(named(made), "name of key");
  t.equal(named([...made, { op: "life" }]), "name of key of an earlier life");
  t.equal(
    named([...made, ...sync(5), { op: "life" }, { op: "unlink", path: "keys/2026.pem" }]),
    "removed name of key",
  );
  t.equal(named([...made, ...sync(5), { op: "life" }]), null);
});

t.test("the blocks of a removed key hold it until zeros in its place were synced", async (t) => {
  const made: Call[] = [
    { op: "mkdir", path: "keys", inode: 5, mode: 0o700 },
    create("keys/2026.pem", 2),
    write(2, "key"),
    ...sync(2),
    ...sync(5),
  ];
  const removed: Call[] = [{ op: "unlink", path: "keys/2026.pem" }, ...sync(5)];
  const blocks = (calls: readonly Call[]): string[] =>
    keyBlocks(diskAfter(calls), "unsynced dropped", seededRandom(1)).map((bytes) =>
      bytes.toString("latin1"),
    );
  t.same(blocks([...made, write(2, "\0\0\0"), ...removed]), ["key"]);
  t.same(blocks([...made, write(2, "\0\0\0"), ...sync(2), ...removed]), ["\0\0\0"]);
  t.same(blocks(made), []);
});

t.test("a record that breaks off, or is none, is refused", async (t) => {
  const mark = encodeMark({ acks: [[1, 2, "ab"]] });
  t.same([...readRecording(Buffer.concat([mark, mark]))].length, 2);
  t.throws(() => [...readRecording(mark.subarray(0, -1))], { message: /no record at byte 0/ });
  t.throws(() => [...readRecording(Buffer.concat([mark, Buffer.alloc(40)]))], {
    message: /no record at byte/,
  });
});

function sectorsOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / SECTOR) }, (_, at) =>
    text.slice(at * SECTOR, (at + 1) * SECTOR),
  );
}
