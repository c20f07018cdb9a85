import t from "tap";
import { quotaWords, summaryWords, withSizes } from "../../src/job/size-words.ts";

t.test("large counts of bytes in a message get another unit, small ones stay exact", async (t) => {
  const size = (bytes: number) => `${bytes / 1024 ** 3} GiB`;
  t.equal(
    withSizes("a process was killed at the limit of 2147483648 bytes", size),
    "a process was killed at the limit of 2 GiB",
  );
  t.equal(withSizes("a line of 4096 bytes", size), "a line of 4096 bytes");
  t.equal(withSizes("job-12345678 stays", size), "job-12345678 stays");
});

t.test("a quota is told as it was asked for", async (t) => {
  t.equal(quotaWords(750e9), "750 GB");
  t.equal(quotaWords(1_500_000_000_000), "1,500 GB");
  t.equal(quotaWords(500_000_000), "0.5 GB");
  t.equal(
    summaryWords("the bucket of screening may hold 750000000000 bytes"),
    "the bucket of screening may hold 750 GB",
  );
  t.equal(summaryWords("anna becomes data-steward"), "anna becomes data-steward");
});
