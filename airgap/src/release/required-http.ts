/**
 * `node:http` by `require`. Whoever imports it as an ES module loads Node's client of `fetch` and WebSocket as well, because every export is read at once:
 * 35 ms of CPU and some MiB in each process. `require` reads what is used.
 */
import type { Plugin } from "esbuild";

const NAMESPACE = "required";

/** For programs that have a `require`. */
export const requiredHttp: Plugin = {
  name: "required http",
  setup: (build) => {
    build.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === "require-call"
        ? { path: "node:http", external: true }
        : { path: "node:http", namespace: NAMESPACE },
    );
    build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};
