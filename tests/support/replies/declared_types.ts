/**
 * Checks JSON against the types that the official client libraries declare, read by the TypeScript
 * compiler from the pinned packages. For tests.
 */
import ts from "typescript";

interface Difference {
  /** The field, with `[]` for the elements of an array: `content[].citations`. */
  readonly path: string;
  /** `lacks`, `is "x"`, `is a number`, `is not declared`. */
  readonly says: string;
}

/** Where a type is declared: the library's folder, the module inside it and the type's name. */
export interface Declaration {
  readonly library: URL;
  readonly module: string;
  readonly type: string;
}

const OPTIONS: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: [],
  lib: ["lib.es2022.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/**
 * Reads declared types, each under a name. Gives a function from a name and a value to the
 * differences of the value from that type; none where it fits.
 *
 * @throws {Error} the compiler's message for a declaration that does not exist
 */
export function declaredTypes<Name extends string>(
  declarations: Readonly<Record<Name, Declaration>>,
): (name: Name, value: unknown) => readonly Difference[] {
  const entry = "/declared_types.ts";
  const text = Object.entries<Declaration>(declarations).map((
    [name, { library, module, type }],
  ) => {
    const file = new URL(module, library).pathname;
    return `export type { ${type} as ${name} } from ${JSON.stringify(file)};\n`;
  }).join("");
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (file, version) =>
    file === entry
      ? ts.createSourceFile(file, text, version)
      // The client's classes, which the types do not need, would double the time.
      : read(/\/client\.d\.m?ts$/.test(file) ? "" : file, version);
  const program = ts.createProgram([entry], OPTIONS, host);
  const source = program.getSourceFile(entry);
  const [fault] = program.getSemanticDiagnostics(source);
  if (source === undefined || fault !== undefined) {
    throw new Error(ts.flattenDiagnosticMessageText(fault?.messageText, "\n"));
  }
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(source);
  const typeOf = typeReader(checker);
  const found = new Map(
    (module === undefined ? [] : checker.getExportsOfModule(module)).map((
      symbol,
    ) => [
      symbol.name,
      typeOf(
        checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(symbol)),
      ),
    ]),
  );
  return (name, value) => {
    const differences: Difference[] = [];
    found.get(name)?.(value, "", (path, says) => {
      differences.push({ path, says });
    });
    return differences;
  };
}

type Report = (path: string, says: string) => void;
type Check = (value: unknown, path: string, report: Report) => void;

/** What a library adds to the fields of a reply. */
const NOT_ON_THE_WIRE = ts.SymbolFlags.Method | ts.SymbolFlags.Accessor;

type Kind = "array" | "object" | "plain";

const PRIMITIVES: readonly (readonly [ts.TypeFlags, Check])[] = [
  [ts.TypeFlags.String, only((value) => typeof value === "string")],
  [ts.TypeFlags.Number, only((value) => typeof value === "number")],
];

function typeReader(checker: ts.TypeChecker): (type: ts.Type) => Check {
  const known = new Map<ts.Type, Check>();
  const read = (type: ts.Type): Check => {
    const before = known.get(type);
    if (before !== undefined) return before;
    // Declared types contain themselves.
    known.set(type, (...value) => known.get(type)?.(...value));
    const made = checkOf(type);
    known.set(type, made);
    return made;
  };
  const checkOf = (type: ts.Type): Check => {
    if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) {
      return () => {};
    }
    if (type.isUnion()) return unionOf(type.types);
    if (type.isIntersection()) {
      const plain = plainOf(type);
      if (plain !== undefined) return read(plain);
    }
    if (type.isStringLiteral() || type.isNumberLiteral()) {
      return only((value) => value === type.value);
    }
    if ((type.flags & ts.TypeFlags.BooleanLiteral) !== 0) {
      const literal = checker.typeToString(type);
      return only((value) =>
        typeof value === "boolean" && String(value) === literal
      );
    }
    if ((type.flags & ts.TypeFlags.Null) !== 0) {
      return only((value) => value === null);
    }
    const primitive = PRIMITIVES.find(([flag]) => (type.flags & flag) !== 0);
    if (primitive !== undefined) return primitive[1];
    if (checker.isArrayType(type)) {
      const [element] = checker.getTypeArguments(type as ts.TypeReference);
      const check = element === undefined ? () => {} : read(element);
      return (value, path, report) => {
        if (!Array.isArray(value)) return report(path, described(value));
        for (const one of value) check(one, `${path}[]`, report);
      };
    }
    return objectOf(type);
  };
  const propertiesOf = (type: ts.Type): readonly ts.Symbol[] =>
    checker.getPropertiesOfType(type).filter(({ flags }) =>
      (flags & NOT_ON_THE_WIRE) === 0
    );

  const objectOf = (type: ts.Type): Check => {
    const fields = new Map(
      propertiesOf(type).map((property) => [property.name, {
        isRequired: (property.flags & ts.SymbolFlags.Optional) === 0,
        check: read(checker.getTypeOfSymbol(property)),
      }]),
    );
    const index = checker.getIndexInfosOfType(type)[0];
    const other = index === undefined ? undefined : read(index.type);
    return (value, path, report) => {
      if (!isFields(value)) return report(path, described(value));
      const at = (name: string): string =>
        path === "" ? name : `${path}.${name}`;
      for (const [name, { isRequired }] of fields) {
        if (isRequired && !Object.hasOwn(value, name)) {
          report(at(name), "lacks");
        }
      }
      for (const [name, one] of Object.entries(value)) {
        const check = fields.get(name)?.check ?? other;
        if (check === undefined) report(at(name), "is not declared");
        else check(one, at(name), report);
      }
    };
  };
  /** The fields by which the members of a union differ: those of one word. */
  const tagsOf = (type: ts.Type): readonly (readonly [string, unknown])[] =>
    propertiesOf(type).flatMap((property) => {
      const of = checker.getTypeOfSymbol(property);
      return of.isStringLiteral() ? [[property.name, of.value] as const] : [];
    });
  const kindOf = (type: ts.Type): Kind => {
    if (checker.isArrayType(type)) return "array";
    const isObject = (type.flags & ts.TypeFlags.Object) !== 0 ||
      type.isIntersection() && plainOf(type) === undefined;
    return isObject ? "object" : "plain";
  };
  const unionOf = (types: readonly ts.Type[]): Check => {
    const members = types.map((type) => ({
      kind: kindOf(type),
      check: read(type),
      tags: kindOf(type) === "object" ? tagsOf(type) : [],
    }));
    return (value, path, report) => {
      const kind = kindOfValue(value);
      const meant = members.filter((member) =>
        member.kind === kind &&
        member.tags.every(([name, word]) =>
          isFields(value) && value[name] === word
        )
      );
      let least: readonly Parameters<Report>[] | undefined;
      for (const { check } of meant) {
        const found: Parameters<Report>[] = [];
        check(value, path, (...difference) => found.push(difference));
        if (found.length === 0) return;
        if (found.length < (least?.length ?? Infinity)) least = found;
      }
      if (least === undefined || kind === "plain") {
        report(path, described(value));
      } else for (const difference of least) report(...difference);
    };
  };
  return read;
}

/** `string & {}` is any string, beside the literals that an editor suggests. */
function plainOf({ types }: ts.IntersectionType): ts.Type | undefined {
  return types.find(({ flags }) =>
    (flags & (ts.TypeFlags.String | ts.TypeFlags.Number)) !== 0
  );
}

function kindOfValue(value: unknown): Kind {
  if (Array.isArray(value)) return "array";
  return isFields(value) ? "object" : "plain";
}

function only(fits: (value: unknown) => boolean): Check {
  return (value, path, report) => {
    if (!fits(value)) report(path, described(value));
  };
}

function described(value: unknown): string {
  if (Array.isArray(value)) return "is an array";
  if (isFields(value)) {
    return typeof value["type"] === "string"
      ? `is of type ${JSON.stringify(value["type"])}`
      : "is an object";
  }
  const json = JSON.stringify(value) ?? "undefined";
  return json.length > 60 ? `is a ${typeof value}` : `is ${json}`;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
