import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { At } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel, Row } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";

/** Who one is here, what one may, and how one leaves. */
export function Account() {
  const { user, roles, projects, acr, endsAt } = useSession();
  const mayMint = useMay("key.list");
  const leave = useAction(async (path: "/auth/sign-out" | "/auth/sign-out-everywhere") => {
    const { location: next } = await ask("POST", path);
    location.assign(next);
  });
  return (
    <Panel title="Signed in" id="account">
      <Facts
        facts={[
          ["Name", user.username],
          ["Roles", roles.join(", ") || "none on the whole appliance", "roles"],
          [
            "Projects",
            projects.map(({ name, role }) => `${name} (${role})`).join(", ") || "none",
            "projects",
          ],
          ["Sign-in", acr === "2" ? "with a second factor" : "without a second factor", "acr"],
          [
            "Ends",
            <>
              <At at={endsAt} />, or after 15 minutes without input
            </>,
            "ends",
          ],
        ]}
      />
      <Row>
        {mayMint ? <Link href="/keys">Platform keys</Link> : null}
        <a href="/auth/credential/passkey">Add a passkey</a>
        <a href="/auth/credential/code">Set up a code generator</a>
        <a href="/auth/credential/password">Change the password</a>
        <Button id="sign-out" onPress={() => leave.run("/auth/sign-out")} isDisabled={leave.isBusy}>
          Sign out
        </Button>
        <Button
          id="sign-out-everywhere"
          onPress={() => leave.run("/auth/sign-out-everywhere")}
          isDisabled={leave.isBusy}
        >
          Sign out everywhere
        </Button>
      </Row>
      {leave.error === null ? null : <Failure error={leave.error} />}
    </Panel>
  );
}
