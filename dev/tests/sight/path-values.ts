/**
 * Which paths of this tree a source makes of the place where it stands: `join(import.meta.dirname, "..", "x")`, and what is joined to that further on. Each
 * way to a file of the tree begins at such a place, at the working folder, or at a path that somebody else has made of one.
 */
import { posix } from "node:path";
import ts from "typescript";

/** A path of this tree; where running code adds to it, all that lies below. `""` is the tree itself. */
export type PathValue = { path: string; isBelow: boolean };

export type PathsOfSource = {
  /** What it names, or hands on. */
  paths: readonly PathValue[];
  /** Exported constant → the paths that it may stand for. */
  exported: ReadonlyMap<string, readonly PathValue[]>;
};

/** In a compiled program every source stands in this folder of the release. No path of this tree begins with a slash. */
export const RELEASE_APP = "/release/app";

export type ReadPaths = {
  /** Its path in this tree. */
  file: string;
  text: string;
  /** Names that it imports → the paths that they stand for. */
  imported: ReadonlyMap<string, readonly PathValue[]>;
  /** Specifier → file in this tree; null: a package of others. */
  resolve: (specifier: string) => string | null;
  /** It may be part of a compiled program, too. */
  isCompiled: boolean;
};

/** Whether a source says where it stands, or could; others need not be parsed. */
export function mayNamePaths(text: string): boolean {
  return /\bimport\.meta\b|\bprocess\.cwd\b|\bshippedProgram\b/.test(text);
}

const JOINS: ReadonlySet<string> = new Set(["join", "resolve"]);
/** They answer the same path in another form. */
const SAME: ReadonlySet<string> = new Set([
  ...["fileURLToPath", "pathToFileURL", "String", "normalize", "realpathSync", "stringify"],
  "createRequire",
]);
const SAYS_FILE: ReadonlySet<string> = new Set(["filename", "url"]);
/** Of `import.meta`: what says nothing of a place, or is read elsewhere. */
const SAYS_NO_PLACE: ReadonlySet<string> = new Set(["main", "resolve"]);
const SAME_PROPERTIES: ReadonlySet<string> = new Set(["href", "pathname", "toString"]);

/** Somebody is handed a way to all of the tree. */
export const ANYTHING: PathValue = { path: "", isBelow: true };

type Names = Map<string, readonly PathValue[]>;

export function pathsOfSource(read: ReadPaths): PathsOfSource {
  const { file, text, imported } = read;
  const kind = file.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const names: Names = new Map(imported);
  const strings = stringsOf(source);
  const exported = new Map<string, readonly PathValue[]>();
  const evaluate = (node: ts.Expression): readonly PathValue[] | null =>
    valueOf(node, { ...read, names, strings });
  // What a constant stands for is known once all that it is made of are.
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const { name, initializer, isExported } of namedValues(source)) {
      const value = names.has(name) ? null : evaluate(initializer);
      if (value === null) continue;
      names.set(name, value);
      if (isExported) exported.set(name, value);
    }
  }
  const paths: PathValue[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isMetaProperty(node) && !isRead(node)) paths.push(ANYTHING);
    if (ts.isExpression(node) && !isNameOnly(node)) {
      const value = evaluate(node);
      if (value !== null) {
        // Where a constant is used counts, not where it gets its value.
        if (!isNamedValue(node)) paths.push(...value);
        return ts.forEachChild(node, (child) => visitArguments(child, node));
      }
    }
    ts.forEachChild(node, visit);
  };
  // Of a path that is known, what it is made of is none by itself.
  const visitArguments = (child: ts.Node, of: ts.Node): void => {
    if (ts.isTemplateSpan(child)) return visitArguments(child.expression, of);
    if (ts.isExpression(child) && evaluate(child) !== null && !ts.isConditionalExpression(of))
      return;
    if (ts.isConditionalExpression(of) && child === of.condition) return;
    visit(child);
  };
  visit(source);
  return { paths: distinct(paths), exported };
}

type Evaluating = Pick<ReadPaths, "file" | "resolve" | "isCompiled"> & {
  names: Names;
  strings: ReadonlyMap<string, string>;
};

/** Null: no path of this tree, or none that can be read in the text. */
function valueOf(node: ts.Expression, at: Evaluating): readonly PathValue[] | null {
  const of = (inner: ts.Expression): readonly PathValue[] | null => valueOf(inner, at);
  if (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isSatisfiesExpression(node)
  )
    return of(node.expression);
  if (ts.isIdentifier(node)) return isName(node) ? (at.names.get(node.text) ?? null) : null;
  if (ts.isConditionalExpression(node)) return union([of(node.whenTrue), of(node.whenFalse)]);
  if (ts.isTemplateExpression(node)) {
    const [first] = node.templateSpans;
    if (node.head.text !== "" || first === undefined) return null;
    const root = of(first.expression);
    return root && root.map(({ path }) => ({ path, isBelow: true }));
  }
  if (ts.isPropertyAccessExpression(node)) {
    const place = placeOf(node, at);
    if (place !== null) return place;
    return SAME_PROPERTIES.has(node.name.text) ? of(node.expression) : null;
  }
  if (ts.isNewExpression(node)) return urlOf(node, at);
  return ts.isCallExpression(node) ? callOf(node, at) : null;
}

/** `import.meta.dirname` and its like, in the tree and in a program that is compiled of it. */
function placeOf(
  node: ts.PropertyAccessExpression,
  { file, isCompiled }: Evaluating,
): PathValue[] | null {
  if (!ts.isMetaProperty(node.expression)) return null;
  const files = [file, ...(isCompiled ? [`${RELEASE_APP}/program.mjs`] : [])];
  const isFolder = node.name.text === "dirname";
  return isFolder || SAYS_FILE.has(node.name.text)
    ? files.map((each) => ({
        path: isFolder ? inTree(posix.dirname(each)) : each,
        isBelow: false,
      }))
    : null;
}

/** Whether what is taken of `import.meta` is known here. */
function isRead({ parent }: ts.MetaProperty): boolean {
  if (!ts.isPropertyAccessExpression(parent)) return false;
  const { text } = parent.name;
  return text === "dirname" || SAYS_FILE.has(text) || SAYS_NO_PLACE.has(text);
}

function callOf(node: ts.CallExpression, at: Evaluating): readonly PathValue[] | null {
  const callee = nameOfCallee(node.expression);
  const [first, ...others] = node.arguments;
  const isMeta =
    ts.isPropertyAccessExpression(node.expression) && ts.isMetaProperty(node.expression.expression);
  if (isMeta && callee === "resolve") {
    if (first === undefined || !ts.isStringLiteralLike(first)) return [ANYTHING];
    const to = first.text.startsWith(".")
      ? inTree(posix.join(posix.dirname(at.file), first.text))
      : at.resolve(first.text);
    return to === null ? null : [{ path: to, isBelow: false }];
  }
  if (callee === "cwd" && node.expression.getText() === "process.cwd")
    return [{ path: "", isBelow: false }];
  if (callee === "shippedProgram") {
    const name = first && ts.isStringLiteralLike(first) ? first.text : null;
    return [
      { path: name === null ? RELEASE_APP : `${RELEASE_APP}/${name}.mjs`, isBelow: name === null },
    ];
  }
  if (first === undefined || ts.isSpreadElement(first)) return null;
  if (
    callee !== null &&
    SAME_PROPERTIES.has(callee) &&
    ts.isPropertyAccessExpression(node.expression)
  )
    return valueOf(node.expression.expression, at);
  if (callee !== null && SAME.has(callee)) return valueOf(first, at);
  if (callee === "dirname")
    return (
      valueOf(first, at)?.map(({ path, isBelow }) =>
        isBelow ? { path, isBelow } : { path: inTree(posix.dirname(path)), isBelow },
      ) ?? null
    );
  if (callee === null || !JOINS.has(callee)) return null;
  const roots = valueOf(first, at);
  return roots && roots.flatMap((root) => joined(root, others, at));
}

/** `new URL(relative, base)`. */
function urlOf(node: ts.NewExpression, at: Evaluating): readonly PathValue[] | null {
  if (nameOfCallee(node.expression) !== "URL") return null;
  const [relative, base] = node.arguments ?? [];
  if (relative === undefined) return null;
  if (base === undefined) return valueOf(relative, at);
  const bases = valueOf(base, at);
  return bases && bases.flatMap(({ path }) => relativeTo(posix.dirname(path), relative, at));
}

function relativeTo(folder: string, relative: ts.Expression, at: Evaluating): readonly PathValue[] {
  if (ts.isConditionalExpression(relative))
    return [relative.whenTrue, relative.whenFalse].flatMap((each) => relativeTo(folder, each, at));
  // One that is a whole address stands for itself.
  return valueOf(relative, at) ?? joined({ path: inTree(folder), isBelow: false }, [relative], at);
}

function joined(root: PathValue, args: readonly ts.Expression[], at: Evaluating): PathValue[] {
  if (root.isBelow) return [root];
  let roots = [root];
  for (const arg of args) {
    const texts = textsOf(arg, at);
    if (texts === null) return roots.map(({ path }) => ({ path, isBelow: true }));
    roots = roots.flatMap(({ path }) =>
      texts.map((text) => ({
        path: inTree(posix.join(path === "" ? "." : path, text)),
        isBelow: false,
      })),
    );
  }
  return roots;
}

/** Strings that an argument may be; null: nobody can read them in the text. */
function textsOf(node: ts.Expression, at: Evaluating): readonly string[] | null {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression, at);
  if (ts.isIdentifier(node)) {
    const text = at.strings.get(node.text);
    return text === undefined ? null : [text];
  }
  if (!ts.isConditionalExpression(node)) return null;
  const [one, other] = [textsOf(node.whenTrue, at), textsOf(node.whenFalse, at)];
  return one === null || other === null ? null : [...one, ...other];
}

/** Constants of one string, by name; a name that stands for several is none. */
function stringsOf(source: ts.SourceFile): Map<string, string> {
  const found = new Map<string, string>();
  const twice = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (
      (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node)) &&
      ts.isIdentifier(node.name)
    ) {
      const { initializer, name } = node;
      if (found.has(name.text)) twice.add(name.text);
      if (initializer && ts.isStringLiteralLike(initializer) && ts.isVariableDeclaration(node))
        found.set(name.text, initializer.text);
      else twice.add(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const name of twice) found.delete(name);
  return found;
}

type NamedValue = { name: string; initializer: ts.Expression; isExported: boolean };

/** Constants, and defaults of parameters. */
function namedValues(source: ts.SourceFile): NamedValue[] {
  const found: NamedValue[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isVariableDeclaration(node) || ts.isParameter(node)) &&
      ts.isIdentifier(node.name) &&
      node.initializer
    )
      found.push({
        name: node.name.text,
        initializer: node.initializer,
        isExported:
          ts.isVariableDeclaration(node) &&
          ts.isVariableStatement(node.parent.parent) &&
          node.parent.parent.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ===
            true,
      });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether an expression is what a constant gets its value of. */
function isNamedValue(node: ts.Expression): boolean {
  const { parent } = node;
  return (
    (ts.isVariableDeclaration(parent) || ts.isParameter(parent)) &&
    parent.initializer === node &&
    ts.isIdentifier(parent.name)
  );
}

/** A name in a declaration, a key, a member: nothing is read there. */
function isNameOnly(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && !isName(node);
}

function isName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (parent === undefined) return true;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isPropertyDeclaration(parent)
  )
    return parent.initializer === node;
  return !(
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isTypeReferenceNode(parent) ||
    ts.isTypeQueryNode(parent) ||
    ts.isQualifiedName(parent) ||
    ts.isLabeledStatement(parent)
  );
}

function nameOfCallee(callee: ts.Expression): string | null {
  if (ts.isIdentifier(callee)) return callee.text;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : null;
}

function union(values: readonly (readonly PathValue[] | null)[]): readonly PathValue[] | null {
  return values.every((value) => value === null) ? null : values.flatMap((value) => value ?? []);
}

/** Without `.` and a slash at its end; what leads out of the tree stays as it is. */
function inTree(path: string): string {
  const plain = posix.normalize(path);
  return plain === "." || plain === "./" ? "" : plain.replace(/(?<=.)\/$/, "");
}

function distinct(values: readonly PathValue[]): PathValue[] {
  return [...new Map(values.map((value) => [`${value.path}\0${value.isBelow}`, value])).values()];
}
