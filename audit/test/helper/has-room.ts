import type { WithRoom } from "@resontech/frame/durable-file";

/** For writers on a disk that nobody watches. */
export const hasRoom: WithRoom = (write) => write();
