import { operatorHttpRequest, PERSON_HEADER } from "@resontech/contracts/operator-route";
import {
  OPERATOR_ROUTES,
  type AskOperator,
  type OperatorAnswer,
  type OperatorAsked,
  type OperatorVerb,
} from "@resontech/contracts/operator-routes";
import { ErrorReply } from "@resontech/contracts/http-common";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import { Value } from "typebox/value";
import { hostPerson } from "../audit/host-person.ts";

const ANSWER_MS = 60_000;

/** The coordinator refused what the operator asked; `code` and `hint` are its own. */
export class ControlRefusedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(reply: { code: string; message: string; hint: string }) {
    super(reply.message);
    this.code = reply.code;
    this.hint = reply.hint;
  }
}

/** Nobody listens on its control socket, so nothing was done. */
export class CoordinatorAwayError extends Error {
  readonly code = "coordinator_away";
  readonly hint =
    "Look at `appliance status`; once the coordinator is healthy, run the command again.";
}

/** Asks the coordinator on its control socket. @throws ControlRefusedError, CoordinatorAwayError, or an error when no answer comes */
export function coordinatorAt(socketPath: string, timeoutMs = ANSWER_MS): AskOperator {
  return async <V extends OperatorVerb>(verb: V, asked?: OperatorAsked<V>) => {
    const { body, ...request } = operatorHttpRequest(OPERATOR_ROUTES[verb], asked ?? {});
    const person = hostPerson();
    const { status, text } = await exchangeOnSocket(socketPath, {
      ...{ ...request, body: body === null ? null : JSON.stringify(body), timeoutMs },
      headers: person === null ? {} : { [PERSON_HEADER]: person },
    }).catch((cause: unknown) => {
      if (isAway(cause))
        throw new CoordinatorAwayError("the coordinator does not run, or starts", { cause });
      if (!isTimeout(cause)) throw cause;
      throw new Error(`the coordinator did not answer within ${timeoutMs / 1000} s`, { cause });
    });
    const answer: unknown = JSON.parse(text);
    if (status < 300) return answer as OperatorAnswer<V>;
    if (Value.Check(ErrorReply, answer)) throw new ControlRefusedError(answer);
    throw new Error(`the coordinator answers ${verb} with ${status} and no reason`);
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function isAway(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ENOENT" || error.code === "ECONNREFUSED")
  );
}
