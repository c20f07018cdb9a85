/** Attacks what was kept from before an erasure with the files of three moments, and says what of it opens. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBox } from "../instances/box.ts";
import { attack, type Attacked, type Lock } from "./key-attack.ts";
import {
  epochKeyIn,
  epochsIn,
  type KeptCopies,
  type KeyCopy,
  keysOfCopy,
  type SealedRow,
} from "./kept-copies.ts";
import type { Said } from "./said.ts";

type Moment = "before" | "between" | "after";

export type Given = {
  kept: KeptCopies;
  /** When the erasure was asked for: until then, copies of the keys hold those of the erased. */
  askedAtMs: number;
  /** As it is at the end: the attack must open copies of epochs whose key is still there. */
  epochsDir: string;
  kek: Buffer;
  /** Of everybody, before the erasure. */
  said: readonly Said[];
  erased: readonly string[];
  /** Somebody who is not erased: the attack must find the key. */
  somebody: string;
  /** Folders as they were before the erasure, right behind it, and when the epochs were over. */
  folders: Record<Moment, readonly string[]>;
  /** Made here: files that a living epoch's key was put into, a folder for each form. */
  planted: string;
};

export type OfMoment = {
  /** Names of copies that open. */
  copies: string[];
  /** Values of the erased that are read in the kept copy of what is sealed: with keys out of opened copies. */
  valuesByCopies: number;
  /** With keys of people that stand in the files themselves. */
  valuesByKeys: number;
  findsSomebody: boolean;
};

export async function attackCopies(
  given: Given,
  progress: (line: string) => void,
): Promise<{
  at: Record<Moment, OfMoment>;
  /** Copies from before the erasure, and those since whose epoch lives. */
  older: KeyCopy[];
  living: KeyCopy[];
  planted: { forms: number; opened: number };
  attacked: Attacked;
}> {
  const { kept, askedAtMs, epochsDir, kek, erased, somebody } = given;
  const said = new Map(given.said.map((one) => [one.commitment, one]));
  const copies = kept.keyCopies;
  const older = copies.filter(({ atMs }) => atMs <= askedAtMs);
  const epochs = epochsIn(epochsDir);
  const living = copies.filter((copy) => !older.includes(copy) && epochs.includes(copy.epoch));
  const [known] = living;
  if (known === undefined) throw new Error("no copy was made since the erasure");
  const forms = plantKey(given.planted, epochKeyIn(epochsDir, known.epoch, kek));
  const rows = kept.sealed.filter(
    ({ subject }) => erased.includes(subject) || subject === somebody,
  );
  // One key opens all of a person's month.
  const ofPeople = new Map(rows.map((row) => [nameOf(row), lockOf(row, said)]));
  const locks = [...copies.map(({ lock }) => lock), ...ofPeople.values()];
  const attacked = await attack({ ...given.folders, ...forms }, locks, kek, progress);

  const ofMoment = (moment: Moment): OfMoment => {
    const opened = attacked.opened.get(moment)!;
    const fromCopies = copies.flatMap((copy) => {
      const epochKey = opened.get(copy.name);
      return epochKey === undefined ? [] : [keysOfCopy(copy, epochKey, kek)];
    });
    const values = (keys: ReadonlyMap<string, Uint8Array>): number =>
      rows.filter((row) => erased.includes(row.subject) && reads(row, keys.get(nameOf(row)), said))
        .length;
    return {
      copies: copies.map(({ name }) => name).filter((name) => opened.has(name)),
      valuesByCopies: values(new Map(fromCopies.flatMap((keys) => [...keys]))),
      valuesByKeys: values(opened),
      findsSomebody: rows.some(
        (row) => row.subject === somebody && reads(row, opened.get(nameOf(row)), said),
      ),
    };
  };
  const at = { before: ofMoment("before"), between: ofMoment("between"), after: ofMoment("after") };
  const openedForms = Object.keys(forms).filter((form) =>
    attacked.opened.get(form)!.has(known.name),
  );
  return {
    at,
    older,
    living,
    planted: { forms: Object.keys(forms).length, opened: openedForms.length },
    attacked,
  };
}

/** In each form in which the attack must know it, among other bytes. @returns folders by the form's name */
function plantKey(
  parent: string,
  key: { wrapped: Buffer; key: Buffer },
): Record<string, readonly string[]> {
  const forms = Object.entries(key).flatMap(([kind, bytes]): [string, Buffer | string][] => [
    [kind, bytes],
    [`${kind} hex`, bytes.toString("hex")],
    [`${kind} HEX`, bytes.toString("hex").toUpperCase()],
    ...[0, 1, 2].map((at): [string, string] => [
      `${kind} base64 at ${at}`,
      Buffer.concat([randomBytes(at), bytes, randomBytes(3 - at)]).toString("base64"),
    ]),
  ]);
  return Object.fromEntries(
    forms.map(([form, text], at) => {
      const folder = join(parent, form.replaceAll(" ", "-"));
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, "file"),
        Buffer.concat([randomBytes(5_000 + at), Buffer.from(text), randomBytes(100)]),
      );
      return [form, [folder]];
    }),
  );
}

/** Of the key. */
function nameOf({ subject, month }: SealedRow): string {
  return `${subject}\n${month}`;
}

/** Salt, then value: the proof knows how it begins. */
function lockOf(row: SealedRow, said: ReadonlyMap<string, Said>): Lock {
  const begins = Buffer.from(said.get(row.commitment.toString("hex"))!.salt, "hex");
  return { name: nameOf(row), box: row.sealed, context: row.commitment, begins };
}

function reads(
  { commitment, sealed }: SealedRow,
  key: Uint8Array | undefined,
  said: ReadonlyMap<string, Said>,
): boolean {
  if (key === undefined) return false;
  const { salt, value } = said.get(commitment.toString("hex"))!;
  return openBox(key, sealed, commitment).equals(
    Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(value)]),
  );
}
