import { Link } from "wouter";

export function NoSuchPage() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        The address may be old, or of a part that this appliance does not have.{" "}
        <Link href="/jobs">Go to the jobs</Link>.
      </p>
    </>
  );
}
