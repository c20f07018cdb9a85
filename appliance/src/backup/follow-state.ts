/** How far the follower is, for `appliance status`: it lies where nothing outlives a start of the host. */
import { readFileSync } from "node:fs";
import type { FollowState } from "@resontech/backup/follow-database";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";

const Instant = Type.Integer({ minimum: 0 });
const form = Compile(
  Type.Object({
    atMs: Instant,
    upToMs: Type.Union([Instant, Type.Null()]),
    failure: Type.Union([Type.String(), Type.Null()]),
  }),
);

export function noteFollowed(layout: Layout, state: FollowState): void {
  writeOwned(stateFile(layout), `${JSON.stringify(state)}\n`, ROOT, 0o600);
}

/** Null where none was noted, or none that can be read. */
export function readFollowed(layout: Layout): FollowState | null {
  try {
    const state: unknown = JSON.parse(readFileSync(stateFile(layout), "utf8"));
    return form.Check(state) ? state : null;
  } catch {
    return null;
  }
}

function stateFile(layout: Layout): string {
  return layout.run("follower.json");
}
