/** How far the follower is, for `appliance status`: it lies where nothing outlives a start of the host. */
import { existsSync, readFileSync } from "node:fs";
import { type Followed, followedIn } from "@resontech/follower/followed";
import type { Layout } from "@resontech/frame/layout";
import { ROOT, writeOwned } from "../config/owned-file.ts";

export function noteFollowed(layout: Layout, state: Followed): void {
  writeOwned(layout.followedFile, `${JSON.stringify(state)}\n`, ROOT, 0o600);
}

/** Reads how far the follower is; null where nothing was noted, or nothing that can be read. */
export function readFollowed({ followedFile }: Layout): Followed | null {
  return followedIn(existsSync(followedFile) ? readFileSync(followedFile, "utf8") : null);
}
