/** Deploys a model of the bucket, and talks to it: the real gateway and the real llama.cpp with a small chat model answer. */
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import type { Page } from "playwright-core";
import type { Office } from "../dashboard/office.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";

const GOAL_S = 120;
const QUESTION = "Say hello.";
const TOKENS = 12;
const WEIGHTS = "models/chat.gguf";

export async function talkToModel(office: Office): Promise<Task[]> {
  const { house, ada, agent, gateway } = office;
  const { running } = house;
  // What answers is the smallest real chat model; the bucket has its name alone.
  const head = "GGUF\u0003\0\0\0 and the rest";
  await running.s3.store.put(ada.bucketAlias, WEIGHTS, head, "application/octet-stream");
  const visitor = await visitorOf(office, ada);
  const { page } = visitor;
  let deployed = { id: "", key: "" };
  return [
    {
      name: "talk-to-a-model",
      goal_s: GOAL_S,
      visitor,
      expected: "what the model answers to the same question by the API",
      answer: async () => {
        await visitor.press(page.getByRole("link", { name: "Inference", exact: true }));
        await visitor.press(page.getByRole("link", { name: "Deploy a model" }).first());
        const model = page.getByRole("combobox", { name: /^Model/ });
        await visitor.choose(model, "A GGUF file of the bucket");
        await visitor.type(page.getByLabel("Its place in the bucket"), `/${WEIGHTS}`);
        await visitor.type(page.getByRole("textbox", { name: /^Name/ }), "small chat");
        await visitor.press(page.getByRole("button", { name: "Deploy", exact: true }));
        const key = await visitor.read(page.getByText(/^rpk_/));
        await visitor.press(page.getByRole("button", { name: "I have it" }));
        await page.waitForURL(/inference\/jobs\/job-/);
        deployed = { id: new URL(page.url()).pathname.split("/").at(-1) ?? "", key };
        await gateway.answerChat(agent, deployed.id);
        await page.getByText("It answers on 1 replica.").waitFor();
        await visitor.type(page.getByLabel("Longest answer (tokens)"), String(TOKENS));
        await visitor.type(page.getByLabel("Temperature"), "0");
        const message = page.getByRole("textbox", { name: "Message" });
        await visitor.type(message, QUESTION);
        await visitor.key(message, "Enter");
        await page.getByText(/^First word after \d+ ms/).waitFor();
        return await turnOf(page);
      },
      isRight: async (said) => said === (await answerByApi(office, deployed)),
    },
  ];
}

/** What the model said last. */
async function turnOf(page: Page): Promise<string> {
  const turns = page.getByRole("list", { name: "Conversation" }).getByRole("listitem");
  return plain((await turns.last().innerText()).replace(/^Model\s+/, ""));
}

async function answerByApi(
  { house: { running } }: Office,
  { id, key }: { id: string; key: string },
): Promise<string> {
  const reply = await fetchWithCa(
    running.caPem,
    `${running.url}/inference/${id}/v1/chat/completions`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "small chat", temperature: 0, max_tokens: TOKENS },
        messages: [{ role: "user", content: QUESTION }],
      }),
    },
  );
  const answer = (await reply.json()) as { choices: { message: { content: string } }[] };
  return plain(answer.choices[0]?.message.content ?? "");
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
