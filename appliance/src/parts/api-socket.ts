import { type Layout, uidOf } from "@resontech/frame/layout";
import type { PartContext } from "./context.ts";
import { makeSocketFolder } from "./socket-folder.ts";

/** Where the coordinator serves the API to the front door alone. */
export const apiSocket = (layout: Layout): string => layout.run("api", "sock");

/** Made before either of the two starts. */
export function makeApiSocketFolder({ config, layout }: PartContext): void {
  makeSocketFolder(layout.run("api"), {
    uid: uidOf(config, "coordinator"),
    gid: uidOf(config, "door"),
  });
}
