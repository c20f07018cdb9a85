/**
 * Imported before anything else: Node's file calls share a pool of threads, four unless it is told otherwise before the first of them, and each
 * sync holds one until the disk has answered. Files of a checkpoint are synced many at a time, because a journaling file system commits them together.
 */
process.env["UV_THREADPOOL_SIZE"] = "24";
