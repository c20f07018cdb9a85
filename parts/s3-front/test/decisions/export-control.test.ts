import t from "tap";
import { isModelOutput } from "@resontech/contracts/model-output";

const CASES: [key: string, isModel: boolean][] = [
  ["jobs/x/model_out/checkpoint.pt", true],
  ["model_out/x", true],
  ["jobs/x/files_out/best.pt", true],
  ["jobs/x/files_out/sites/site-1/weights.pt", true],
  ["jobs/x/files_out/logs/deep/x.log", true],
  ["jobs/x/files_out/logs/site-1.log", false],
  ["jobs/x/files_out/training_log.txt", false],
  ["jobs/x/files_out/metrics.jsonl", false],
  ["jobs/x/files_out/a/metrics.jsonl", true],
  ["jobs/x/scripts/model_def.py", false],
  ["jobs/x/my_model_out/x", false],
];

for (const [key, isModel] of CASES) t.equal(isModelOutput(key), isModel, key);
