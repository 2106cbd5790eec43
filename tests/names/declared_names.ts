/**
 * The names that a client library's declarations have: fields, and string literals.
 */
import ts from "typescript";

export interface DeclaredName {
  readonly name: string;
  /** `resources/messages/messages.d.ts#Message`, each once. */
  readonly places: ReadonlySet<string>;
}

/** Reads the declarations in an unpacked package; `files` are paths in its folder. */
export async function declaredNames(
  folder: URL,
  files: RegExp,
): Promise<readonly DeclaredName[]> {
  const found = new Map<string, Set<string>>();
  for await (const path of filesBelow(folder)) {
    if (!files.test(path)) continue;
    const source = ts.createSourceFile(
      path,
      await Deno.readTextFile(new URL(path, folder)),
      ts.ScriptTarget.Latest,
    );
    const note = (name: string, place: string): void => {
      const places = found.get(name);
      if (places === undefined) found.set(name, new Set([place]));
      else places.add(place);
    };
    for (const statement of source.statements) {
      visit(statement, [], (name, owner) => note(name, `${path}#${owner}`));
    }
  }
  return [...found].map(([name, places]) => ({ name, places }));
}

/** Paths below a folder, sorted. */
async function* filesBelow(
  folder: URL,
  prefix = "",
): AsyncGenerator<string> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(prefix, folder)));
  for (
    const { name, isDirectory } of entries.sort((a, b) =>
      a.name < b.name ? -1 : 1
    )
  ) {
    if (isDirectory) yield* filesBelow(folder, `${prefix}${name}/`);
    else yield prefix + name;
  }
}

type Note = (name: string, owner: string) => void;

/** Visits a declaration; `owners` are the names of those around it. */
function visit(node: ts.Node, owners: readonly string[], note: Note): void {
  if (ts.isVariableDeclaration(node)) {
    return visitEnumeration(node, owners, note);
  }
  // The library's own methods and classes are not on the wire.
  if (ts.isFunctionLike(node) || isResource(node)) return;
  const inner = isNamed(node) && node.name !== undefined &&
      ts.isIdentifier(node.name)
    ? [...owners, node.name.text]
    : owners;
  const owner = inner.join(".");
  if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) {
    if (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name)) {
      note(node.name.text, owner);
    }
  }
  if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) {
    note(node.literal.text, owner);
  }
  if (
    ts.isEnumMember(node) && node.initializer !== undefined &&
    ts.isStringLiteral(node.initializer)
  ) note(node.initializer.text, owner);
  ts.forEachChild(node, (child) => visit(child, inner, note));
}

/** A constant whose members are texts alone is an enumeration; others are the library's own. */
function visitEnumeration(
  { name, type }: ts.VariableDeclaration,
  owners: readonly string[],
  note: Note,
): void {
  if (type === undefined || !ts.isTypeLiteralNode(type)) return;
  const values = type.members.map((member) =>
    ts.isPropertySignature(member) && member.type !== undefined &&
      ts.isLiteralTypeNode(member.type) &&
      ts.isStringLiteral(member.type.literal)
      ? member.type.literal.text
      : undefined
  );
  if (!ts.isIdentifier(name) || values.includes(undefined)) return;
  const owner = [...owners, name.text].join(".");
  for (const value of values) note(value ?? "", owner);
}

function isNamed(node: ts.Node): node is ts.Node & { name?: ts.Node } {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) || ts.isEnumDeclaration(node) ||
    ts.isModuleDeclaration(node);
}

function isResource(node: ts.Node): boolean {
  return ts.isClassDeclaration(node) &&
    (node.heritageClauses ?? []).some(({ types }) =>
      types.some(({ expression }) =>
        ts.isIdentifier(expression) &&
        /^(?:APIResource|AbstractPage|BaseModule)$/.test(expression.text)
      )
    );
}
