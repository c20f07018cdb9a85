/**
 * Takes a picture of every page of the dashboard, in both themes and at two widths, of an appliance in the middle of a day.
 *
 * `npm run prove -- dashboard-pictures [--into=FOLDER] [--look=dark-wide] [NAME…]`; without names all pages. A page that is wider than its window is a fault.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ProofContext, ProofResult } from "../proof.ts";
import { takePictures } from "./dashboard/take-pictures.ts";
import { Scene } from "./dashboard/scene.ts";

const INTO = join(import.meta.dirname, "..", "..", ".cache", "pictures");

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const into = args.find((arg) => arg.startsWith("--into="))?.slice("--into=".length) ?? INTO;
  mkdirSync(into, { recursive: true });
  await using scene = await Scene.open(progress);
  const names = args.filter((arg) => !arg.startsWith("--"));
  const looks = args.flatMap((arg) => (arg.startsWith("--look=") ? [arg.slice(7)] : []));
  const { pictures, tooWide } = await takePictures(scene, into, names, progress, looks);
  progress(`they lie in ${into}`);
  return {
    ok: tooWide.length === 0 && pictures > 0,
    figures: { pictures, too_wide: tooWide },
  };
}
