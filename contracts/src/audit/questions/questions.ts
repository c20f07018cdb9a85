/**
 * The questions that auditors ask, each under a name that never changes its meaning. API, shell, page and documents have them from here; which types of
 * event answer which one stands in event-answers.ts.
 */

/** What a question may be asked about. Values are ids as the log has them, but for `data`. */
export const QUESTION_PARAMETERS = {
  data: "a folder with its bucket and a slash at its end, bucket/study/, or one object, bucket/study/scan.nii",
  person: "a person's pseudonym, such as u_4f…",
  job: "a job's id, such as job-7f3a",
  deployment: "a deployment's id, such as job-7f3a",
} as const;
export type QuestionParameter = keyof typeof QUESTION_PARAMETERS;

type Question = {
  /** As an auditor asks it. */
  title: string;
  needs: readonly QuestionParameter[];
  takes: readonly QuestionParameter[];
  /** What no entry of the log shows of it. */
  limits: string;
};

export const QUESTIONS = {
  "data-read": {
    title: "Who read a data set, by the store, the API or a presigned URL?",
    needs: [],
    takes: ["data"],
    limits:
      "What code reads on its node is not in the log: `data.stage` says that a node got the object. A listing names its bucket alone, and a question about a folder does not find it.",
  },
  person: {
    title: "What did a person do, or what was done for the person?",
    needs: ["person"],
    takes: [],
    limits:
      "What somebody did as root at the host stands under `appliance` or `operator`: ask for administrators' actions.",
  },
  job: {
    title: "Who touched a job, and the objects that are its own?",
    needs: ["job"],
    takes: [],
    limits:
      "Two jobs of one name share a folder: a warning names the other. Objects whose values were erased are found no more.",
  },
  refused: {
    title: "What was refused, to whom and why?",
    needs: [],
    takes: ["person"],
    limits: "A connection that never came as far as a request is no entry.",
  },
  left: {
    title: "What left the system?",
    needs: [],
    takes: ["data"],
    limits:
      "An object's read is listed whoever read it, a node of the appliance too. What a container sent is shown where the appliance dialled for it: containers have no network of their own.",
  },
  rights: {
    title: "Who changed whose rights, who asked for it, and who approved?",
    needs: [],
    takes: ["person"],
    limits:
      "Groups of a connected directory are changed there, and the directory's own log says by whom.",
  },
  administrators: {
    title: "What did administrators do, at the host too?",
    needs: [],
    takes: [],
    limits:
      "What root does without a command of the appliance is in the host's own log; `auth.host.login` says who was there.",
  },
  model: {
    title: "What did a model answer, and to whom?",
    needs: [],
    takes: ["deployment"],
    limits:
      "An entry stands for a batch of calls. The gateway's journal has a line for each call, with caller, deployment and digests, and `appliance audit calls` exports it with proofs; it keeps no text of questions and answers.",
  },
  complete: {
    title: "Is the log complete?",
    needs: [],
    takes: [],
    limits:
      "Entries tell of losses that the appliance saw. Whether there are others, the verifier says of an export: its verdicts are the answer.",
  },
} as const satisfies Record<string, Question>;

export type QuestionId = keyof typeof QUESTIONS;
export const QUESTION_IDS = Object.keys(QUESTIONS) as QuestionId[];
