/** Finds code that compares whose something is, or what somebody may, by the syntax tree: a name in a comment or a type is nothing. */
import ts from "typescript";

/** Whose a row is. Compared with anything but null they are a right, or a key to look a row up by. */
const OWNERS = new Set(
  ["userId", "ownerId", "projectId", "nodeId", "keyId", "sessionId", "accessKeyId"].flatMap(
    (name) => [name, snake(name)],
  ),
);
/** What a caller may. They are read by the decision alone. */
const RIGHTS = new Set(["isAdmin", "is_admin", "holds", "scopes", "roles", "grants"]);
const EQUALITIES = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);
const MEMBERSHIPS = new Set(["includes", "has", "indexOf", "startsWith", "localeCompare"]);
const SQL_OWNER = new RegExp(
  `\\b(?:${[...OWNERS].filter((name) => name.includes("_")).join("|")})\\s*(?:=|<>|!=|IN\\b)\\s*[(?@]`,
  "gi",
);

/** The text of each, in order. */
export function comparisonsIn(source: string): string[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const text = (node: ts.Node): string => node.getText(file).replaceAll(/\s+/g, " ");
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && EQUALITIES.has(node.operatorToken.kind)) {
      const { left, right } = node;
      if (
        [left, right].some((side) => isOwner(side) || isOfCaller(side)) &&
        ![left, right].some(isNothing)
      )
        found.push(text(node));
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      if (MEMBERSHIPS.has(name.text) && [expression, ...node.arguments].some(isOwner))
        found.push(text(node));
    } else if (ts.isPropertyAccessExpression(node)) {
      if (RIGHTS.has(node.name.text)) found.push(text(node));
    } else if (ts.isBindingElement(node)) {
      const name = node.propertyName ?? node.name;
      if (ts.isIdentifier(name) && RIGHTS.has(name.text)) found.push(`{ ${text(node)} }`);
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      for (const [match] of text(node).matchAll(SQL_OWNER)) found.push(`SQL ${match}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isOwner(node: ts.Node): boolean {
  const name = ts.isPropertyAccessExpression(node) ? node.name : node;
  return ts.isIdentifier(name) && OWNERS.has(name.text);
}

/** An attribute of whoever asks: `caller.node`, `request.caller.kind`. */
function isOfCaller(node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node)) return false;
  const { expression } = node;
  return (
    (ts.isPropertyAccessExpression(expression) ? expression.name : expression).getText() ===
    "caller"
  );
}

function isNothing(node: ts.Node): boolean {
  return (
    node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === "undefined")
  );
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Object literals that are an actor: with `sub` and `kind`. */
export function actorsIn(source: string): string[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const names = node.properties.map(({ name }) => name?.getText(file));
      if (names.includes("sub") && names.includes("kind")) found.push(node.getText(file));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
