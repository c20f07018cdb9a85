import { pageFrame } from "./page-frame.ts";

/** What a person can do about it; by the log's word for the refusal. */
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  state_missing:
    "This browser did not begin the sign-in that came back, or its cookies are switched off. Begin again from here.",
  state_expired: "The sign-in took longer than 15 minutes. Begin again.",
  access_denied: "You ended the sign-in, or may not sign in.",
  user_disabled: "The operator disabled your user. Ask the operator.",
  name_taken:
    "A user of this name is here already and is somebody else. Ask the operator for another name in the directory or here.",
  other_person:
    "Somebody else signed in at the identity provider than who is signed in here, so nothing was signed. Sign out there, and begin again.",
  second_factor_missing: "Your roles need a second factor, and none was shown. Begin again.",
};

/** A sign-in was refused. @param reason a word of our own */
export function refusalPage(reason: string): string {
  const what = WHAT_TO_DO[reason] ?? "The sign-in could not be checked. Begin again.";
  return pageFrame(
    "Not signed in",
    `<h1>You are not signed in</h1>
<p role="alert">${what}</p>
<nav><a class="button" href="/auth/sign-in">Sign in</a></nav>
<p><small>Reason in the log: <code>${reason}</code></small></p>`,
  );
}
