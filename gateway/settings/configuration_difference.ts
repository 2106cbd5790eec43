/**
 * What another configuration would change: settings, and places in the configuration file.
 */
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";

/** The parts of a configuration that are compared; what `GET /admin/v1/settings` has of them. */
export interface ComparedConfiguration {
  /** See {@linkcode shownContent}. */
  readonly content: JsonObject;
  readonly settings: readonly ComparedSetting[];
}

/** A setting; of a secret only whether it is set. */
export interface ComparedSetting {
  readonly name: string;
  readonly value?: string | undefined;
  readonly isSet: boolean;
}

/** A value that differs. */
export interface Difference {
  /** The setting, or the path in the configuration file. */
  readonly at: string;
  /** JSON text, or words; what is not there is `not set`. */
  readonly before: string;
  readonly after: string;
  /** `now`: as soon as the file is read again; `start`: at the next start. */
  readonly takesEffect: "now" | "start";
}

const NOT_SET = "not set";

/** What differs, settings first. */
export function differences(
  before: ComparedConfiguration,
  after: ComparedConfiguration,
): readonly Difference[] {
  return [
    ...after.settings.flatMap((setting): readonly Difference[] => {
      const other = before.settings.find(({ name }) => name === setting.name);
      const [from, to] = [textOf(other), textOf(setting)];
      return from === to
        ? []
        : [{ at: setting.name, before: from, after: to, takesEffect: "start" }];
    }),
    ...contentDifferences(before.content, after.content, []),
  ];
}

function textOf(setting: ComparedSetting | undefined): string {
  return setting === undefined || !setting.isSet
    ? NOT_SET
    : setting.value ?? "set";
}

function contentDifferences(
  before: unknown,
  after: unknown,
  path: readonly string[],
): readonly Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      contentDifferences(before[name], after[name], [...path, name])
    );
  }
  const [from, to] = [before, after].map((value) =>
    value === undefined ? NOT_SET : JSON.stringify(value)
  );
  return from === undefined || to === undefined || from === to
    ? []
    : [{ at: path.join("."), before: from, after: to, takesEffect: "now" }];
}

/**
 * The configuration file as operators may read it: the values of a vendor's headers may be secrets
 * of a proxy.
 */
export function shownContent(content: JsonObject): JsonObject {
  const { vendors } = content;
  if (!isObject(vendors)) return content;
  return {
    ...content,
    vendors: Object.fromEntries(
      Object.entries(vendors).map(([name, row]) => [
        name,
        isObject(row) && isObject(row["headers"])
          ? {
            ...row,
            headers: Object.fromEntries(
              Object.keys(row["headers"]).map((header) => [header, "set"]),
            ),
          }
          : row,
      ]),
    ),
  };
}
