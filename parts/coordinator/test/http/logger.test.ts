import t from "tap";
import { makeLogger } from "../../src/http/logger.ts";

t.test("secrets never reach a log line", async (t) => {
  const lines: string[] = [];
  const logger = makeLogger("info", { write: (line: string) => void lines.push(line) });
  const secret = "s3cr3t-value";
  logger.info({ authorization: secret, password: secret, token: secret }, "a");
  logger.info(
    {
      reply: { secretAccessKey: secret, platformKey: secret },
      request: { headers: { authorization: secret } },
    },
    "b",
  );
  logger.info(
    {
      req: {
        id: "1",
        method: "GET",
        url: `/token?account=${secret}`,
        headers: { authorization: secret },
      },
    },
    "c",
  );
  logger.error({ err: new Error("kept") }, "d");
  t.notMatch(lines.join(""), secret);
  t.match(JSON.parse(lines[2]!), {
    req: { id: "1", method: "GET", path: "/token" },
    part: "coordinator",
  });
  t.match(lines[3], /kept/);
});
