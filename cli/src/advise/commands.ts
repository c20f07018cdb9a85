/** `resontech advise`: how many devices a training takes, before it is submitted. */
import {
  type AdviceQuery,
  OPTIMIZERS,
  type Optimizer,
  PRECISIONS,
  type Precision,
} from "@resontech/contracts/http-advice";
import { type Command, Option } from "commander";
import { getJson } from "../api-client.ts";
import { printable } from "../printable.ts";
import { settingsFrom } from "../settings.ts";
import { wrapped } from "../wrapped.ts";
import {
  askedFacts,
  deviceFacts,
  ESTIMATE_HEAD,
  estimateRows,
  STRATEGY_HEAD,
  strategyRows,
} from "./advice-text.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
  /** @param count as it was written @throws InvalidArgumentError */
  countOf: (count: string) => number;
};
type Options = Omit<AdviceQuery, "precision" | "optimizer"> & {
  precision: Precision;
  optimizer: Optimizer;
  json: boolean;
};

/** Column that what is said of one thing begins in. */
const FACTS_AT = 10;

export function addAdviseCommand(program: Command, { say, table, countOf }: Shell): void {
  program
    .command("advise")
    .description(
      "how many devices a training takes and how its ranks share the work: a published table by size, and our estimate beside it",
    )
    .requiredOption("--parameters <count>", "how many the model has: 7b, 350m, 1.3b")
    .option(
      "--gpu-models <ids>",
      "catalogue ids with commas: h100,h200; those of this site where none is named",
    )
    .option(
      "--gpus <n>",
      "estimate for so many; as many as one node has where none is said",
      countOf,
    )
    .option("--sequence <tokens>", "of one sample; without it activations are unknown", countOf)
    .addOption(
      new Option("--precision <precision>", "of the training").choices(PRECISIONS).default("mixed"),
    )
    .addOption(
      new Option("--optimizer <optimizer>", "of the training").choices(OPTIMIZERS).default("adam"),
    )
    .option("--layers <n>", "of the model, with --hidden and --heads", countOf)
    .option("--hidden <n>", "its width", countOf)
    .option("--heads <n>", "of its attention", countOf)
    .option("--vocabulary <n>", "its words; 50257 where none is said", countOf)
    .option("--json", "the appliance's answer", false)
    .addHelpText(
      "after",
      "\nFIXED is what one device needs whatever the batch. PLAIN, FUSED and CHECKPOINTED are the largest micro-batch with an attention that keeps its scores, with a fused one, and with activations that are computed again. LEAST is the fewest devices that would do.\n\nExamples:\n  resontech advise --parameters 7b --sequence 4096\n  resontech advise --parameters 7b --gpu-models h100 --gpus 8 --sequence 4096\n  resontech advise --parameters 8b --layers 32 --hidden 4096 --heads 32 --vocabulary 128256 --sequence 8192\n  resontech advise --parameters 350m --optimizer momentum --precision fp32 --json",
    )
    .action(async ({ json, ...query }: Options) => {
      const advice = await getJson(settingsFrom(process.env), "/api/advice", { query });
      if (json) return void process.stdout.write(`${JSON.stringify(advice)}\n`);
      const facts = (of: [string, string][]): void => {
        for (const [name, text] of of)
          process.stdout.write(
            `${wrapped(`${name.padEnd(FACTS_AT - 1)} ${printable(text)}`, columns(), FACTS_AT)}\n`,
          );
      };
      facts(askedFacts(advice));
      process.stdout.write("\n");
      table(STRATEGY_HEAD, strategyRows(advice));
      for (const device of advice.devices) {
        process.stdout.write("\n");
        facts(deviceFacts(advice, device));
        if (device.estimates.length > 0) table(ESTIMATE_HEAD, estimateRows(device));
      }
      for (const note of advice.notes) say(note);
    });
}

function columns(): number | null {
  return process.stdout.isTTY ? process.stdout.columns : null;
}
