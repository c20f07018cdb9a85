/** The answer to a call of `/v1/responses`, made of a chat's. */
import type { AnswerForm } from "../answer-form.ts";
import type { Fields } from "../check-fields.ts";
import { ResponseEvents } from "./response-events.ts";
import { ResponseHead } from "./response-of.ts";

/** @param known fields of the call @param model as answers name it */
export function responsesForm(known: Fields, model: string): AnswerForm {
  const head = new ResponseHead(known, model, Date.now());
  return { whole: (answer) => head.whole(answer), events: () => new ResponseEvents(head) };
}
