/** The coordinator's part in usage, in a process of its own that may be killed: its socket for gateways, its table, its database. `usage-keeper.ts DATABASE SOCKET ROUTES` */
import { readFileSync } from "node:fs";
import type { RouteTable } from "@resontech/contracts/inference-routes";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { keepUsage } from "../../src/inference/call-usage.ts";
import { GatewayReports } from "../../src/inference/gateway-reports.ts";
import { HeardNumbers } from "../../src/inference/heard-numbers.ts";
import { RoutesServer } from "../../src/inference/routes-server.ts";
import { SILENT_LOG } from "@resontech/house/silent-log";

const [database = "", socket = "", routesFile = ""] = process.argv.slice(2);
const told = JSON.parse(readFileSync(routesFile, "utf8")) as RouteTable;
const commit = new GroupCommit(openDatabase(database).write);
await RoutesServer.listen(socket, {
  ...{ routes: () => told.routes, keys: () => told.keys ?? [], now: () => Date.now() },
  ...{ reports: new GatewayReports(), numbers: new HeardNumbers(), onReport: () => {} },
  ...{ onUsage: (rows) => keepUsage(commit, rows), logger: SILENT_LOG },
});
process.stdout.write("ready\n");
// Sockets alone would do; a timer says that it is meant.
setInterval(() => {}, 60_000);
