/**
 * A format's settings as a table with a row for each that the format can express. Schema, decoder,
 * encoder and the client's names follow from the rows. A setting without a row is dropped and
 * named, or refused where it must not be dropped.
 */
import type { z } from "zod";
import { type JsonDraft, type JsonObject, objectOr } from "../bytes/json.ts";
import type { Capabilities } from "./capabilities.ts";
import type { DroppedFields } from "./dropped_fields.ts";
import type { GenerationRequest } from "./request.ts";
import {
  type Setting,
  SETTING_RULES,
  settingNames,
  type SettingRule,
  SETTINGS,
  type Settings,
} from "./settings.ts";
import type { UnknownFields } from "./unknown_fields.ts";

/** What the decoder of one value sees beside it. */
interface SettingSource {
  /** The object that holds the field: the checked request, or one in it. */
  readonly owner: JsonObject;
  /** Takes what the neutral value cannot hold. */
  readonly unknown: UnknownFields;
}

/** What the encoder of one value sees beside it. */
interface SettingUse<F> {
  /** What the model supports. */
  readonly can: Capabilities;
  /** What the format's settings depend on in the rest of the request. */
  readonly facts: F;
  /** Reports the setting as dropped although something is sent for it. */
  drop(): void;
}

/** How a format expresses a setting. `V`: its neutral value, `W`: its value on the wire. */
interface SettingOptions<V, W, F> extends Omit<SettingRule<V>, "encode"> {
  /** What clients may send. Absent: the table does not read it. */
  readonly schema?: z.ZodType<W>;
  /** A newer name at the top level, which wins, and what clients may send there. */
  readonly newer?: readonly [name: string, schema: z.ZodType<W>];
  /** Further fields of its owner that `decode` reads, with their schemas. */
  readonly beside?: Readonly<Record<string, z.ZodType>>;
  /** Bounds of the format beside the model's. */
  readonly range?: readonly [least: number, most: number];
  /** The neutral value of each of the format's words. A client's other word is an unknown field. */
  readonly words?: Readonly<Record<string, V>>;
  /** True where clients send it of themselves, so that its loss is not named. */
  readonly isQuiet?: boolean;
  /** True where clients send it, and upstreams never receive it. */
  readonly isReadOnly?: boolean;
  /** Where it is written; absent: at its path. */
  readonly writeTo?: (can: Capabilities) => string;
  /**
   * The neutral value; undefined where there is none. Called without a value too. Absent: the value
   * itself, unless it is an empty text or list.
   */
  decode?(
    wire: NonNullable<W> | undefined,
    source: SettingSource,
  ): V | undefined;
  /** Whether the rest of the request forbids the value, which is then dropped. */
  unless?(value: V, use: SettingUse<F>): boolean;
  /**
   * The value on the wire, instead of the rule's. It is bounded afterwards; null: nothing is sent,
   * and nothing is named as dropped.
   */
  encode?(value: V, use: SettingUse<F>): unknown;
  /** Like `encode`, for a setting of several fields: they are in the owner of its path. */
  encodeFields?(value: V, use: SettingUse<F>): JsonObject;
  /** What to send where the client gave nothing; undefined: nothing. */
  absent?(use: SettingUse<F>): unknown;
}

/** A row of a table. */
export interface SettingRow<V, F> extends SettingOptions<V, unknown, F> {
  /** A name at the top level, or one inside an object there: `metadata.user_id`. */
  readonly path: string;
}

/** Makes a row. */
export function at<V, W, F>(
  path: string,
  options: SettingOptions<V, W, F> = {},
): SettingRow<V, F> {
  return { path, ...options };
}

/** A row with the rule of its setting, prepared for reading and writing. */
interface Step<F> extends SettingRow<unknown, F> {
  readonly setting: Setting;
  /** The object that holds the field; undefined: the request itself. */
  readonly owner: string | undefined;
  readonly field: string;
  /** The format's word for each neutral value. */
  readonly wireWords: ReadonlyMap<unknown, string>;
}

interface MissingSetting extends Omit<SettingRule<unknown>, "encode"> {
  readonly setting: Setting;
}

/** A format's settings, made once. `F`: what its rows depend on in the rest of a request. */
export interface SettingsTable<F> {
  /** The settings that have a row, in the order of the rows. */
  readonly steps: readonly Step<F>[];
  /** The rows of settings that are written. */
  readonly written: readonly Step<F>[];
  /** The settings that are not. */
  readonly missing: readonly MissingSetting[];
  /** The client's name of each setting; the usual one where the format has none; empty if quiet. */
  readonly names: Readonly<Record<Setting, string>>;
}

export function settingsTable<F = undefined>(
  rows: { readonly [S in Setting]?: SettingRow<Settings[S], F> },
): SettingsTable<F> {
  const steps = Object.entries(rows).map(([name, row]): Step<F> => {
    const setting = name as Setting;
    const dot = row.path.lastIndexOf(".");
    return {
      ...SETTING_RULES[setting] as SettingRule<unknown>,
      ...row as SettingRow<unknown, F>,
      setting,
      owner: dot < 0 ? undefined : row.path.slice(0, dot),
      field: row.path.slice(dot + 1),
      wireWords: new Map(
        Object.entries(row.words ?? {}).map(([wire, value]) => [value, wire]),
      ),
    };
  });
  const written = steps.filter(({ isReadOnly }) => isReadOnly !== true);
  const has = new Set(written.map(({ setting }) => setting));
  return {
    steps,
    written,
    missing: SETTINGS.filter((setting) => !has.has(setting)).map((setting) => ({
      ...SETTING_RULES[setting] as SettingRule<unknown>,
      setting,
    })),
    names: settingNames((setting) => {
      const { path, isQuiet } = rows[setting] ??
        { path: SETTING_RULES[setting].name };
      return isQuiet === true ? "" : path;
    }),
  };
}

/** The schemas of the settings in an object of the request, by name; absent: at its top level. */
export function settingsShape(
  { steps }: SettingsTable<never>,
  owner?: string,
): Readonly<Record<string, z.ZodType>> {
  const shape: Record<string, z.ZodType> = {};
  for (const step of steps) {
    if (step.schema === undefined || step.owner !== owner) continue;
    shape[step.field] = step.schema;
    if (step.newer !== undefined) shape[step.newer[0]] = step.newer[1];
    Object.assign(shape, step.beside);
  }
  return shape;
}

function isGiven(value: unknown): value is NonNullable<unknown> {
  return value !== undefined && value !== null && value !== "" &&
    !(Array.isArray(value) && value.length === 0);
}

/** Reads the settings of a checked request. */
export function decodeSettings<F>(
  { steps }: SettingsTable<F>,
  body: JsonObject,
  unknown: UnknownFields,
): Partial<Settings> {
  const settings: JsonDraft = {};
  for (const step of steps) {
    if (step.schema === undefined) continue;
    const value = decodeSetting(step, body, unknown);
    if (value !== undefined) settings[step.setting] = value;
  }
  return settings as Partial<Settings>;
}

function decodeSetting<F>(
  step: Step<F>,
  body: JsonObject,
  unknown: UnknownFields,
): unknown {
  const owner = step.owner === undefined ? body : objectOr(body[step.owner]);
  const older = owner[step.field];
  const newer = step.newer === undefined ? undefined : body[step.newer[0]];
  // Of two numbers the newer one replaces the other; two different texts are two facts.
  if (typeof older === "string" && isGiven(newer) && newer !== older) {
    unknown.optional.add(step.path);
  }
  const wire = isGiven(newer) ? newer : older ?? undefined;
  if (step.decode !== undefined) return step.decode(wire, { owner, unknown });
  if (!isGiven(wire) || step.words === undefined) {
    return isGiven(wire) ? wire : undefined;
  }
  if (typeof wire === "string" && Object.hasOwn(step.words, wire)) {
    return step.words[wire];
  }
  unknown.optional.add(step.path);
  return undefined;
}

/** The names of a request's settings: {@linkcode SettingsTable.names}, unless it has newer ones. */
export function namesIn<F>(
  { steps, names }: SettingsTable<F>,
  body: JsonObject,
): Readonly<Record<Setting, string>> {
  let used = names;
  for (const { setting, newer } of steps) {
    if (newer !== undefined && isGiven(body[newer[0]])) {
      used = { ...used, [setting]: newer[0] };
    }
  }
  return used;
}

/**
 * The fields of a request's settings. What the format or the model does not take is reported as
 * dropped.
 *
 * @throws {ApiError} `invalid_request` for a value that can be neither sent nor dropped
 */
export function encodeSettings<F>(
  { written, missing }: SettingsTable<F>,
  request: GenerationRequest,
  can: Capabilities,
  dropped: DroppedFields,
  facts: F,
): JsonObject {
  const writer = new SettingsWriter(can, dropped, facts);
  for (const step of written) writer.write(step, request[step.setting]);
  for (const rule of missing) {
    const value = request[rule.setting];
    if (value !== undefined) writer.lose(rule, value);
  }
  return writer.fields;
}

/** A class, so that no closure is made per call. */
class SettingsWriter<F> implements SettingUse<F> {
  readonly fields: JsonDraft = {};
  readonly can: Capabilities;
  readonly facts: F;
  readonly #dropped: DroppedFields;
  readonly #sent: Setting[] = [];
  /** The setting that is being written. */
  #setting: Setting | undefined;

  constructor(can: Capabilities, dropped: DroppedFields, facts: F) {
    this.can = can;
    this.#dropped = dropped;
    this.facts = facts;
  }

  drop(): void {
    if (this.#setting !== undefined) this.#dropped.field(this.#setting);
  }

  lose(rule: MissingSetting, value: unknown): void {
    const problem = rule.refusal?.(value, this.can);
    if (problem !== undefined) {
      throw this.#dropped.refusal(rule.setting, problem);
    }
    if (rule.isDefault?.(value) !== true) this.#dropped.field(rule.setting);
  }

  write(step: Step<F>, value: unknown): void {
    this.#setting = step.setting;
    const wire = value === undefined
      ? step.absent?.(this)
      : this.#encoded(step, value);
    if (wire === undefined) {
      if (value !== undefined) this.lose(step, value);
      return;
    }
    if (wire === null) return;
    this.#sent.push(step.setting);
    const owner = this.#owner(step.owner);
    if (step.encodeFields !== undefined) Object.assign(owner, wire);
    else owner[step.writeTo?.(this.can) ?? step.field] = wire;
  }

  #encoded(step: Step<F>, value: unknown): unknown {
    const { can } = this;
    const problem = step.refusal?.(value, can);
    if (problem !== undefined) {
      throw this.#dropped.refusal(step.setting, problem);
    }
    for (const needed of step.needs ?? NOTHING) {
      if (can[needed] === false || can[needed] === "none") return undefined;
    }
    if (step.excluded?.(can, this.#sent) || step.unless?.(value, this)) {
      return undefined;
    }
    if (step.encodeFields !== undefined) return step.encodeFields(value, this);
    if (step.words !== undefined) return step.wireWords.get(value);
    return this.#bounded(
      step,
      step.encode === undefined ? value : step.encode(value, this),
    );
  }

  /** A number inside the bounds of model and format, a list that is not too long. */
  #bounded({ least, most, range }: Step<F>, value: unknown): unknown {
    const max = most === undefined ? undefined : this.can[most];
    if (Array.isArray(value)) {
      if (max === undefined || value.length <= max) return value;
      this.drop();
      return max === 0 ? undefined : value.slice(0, max);
    }
    if (typeof value !== "number") return value;
    const min = least === undefined ? undefined : this.can[least];
    const kept = Math.max(
      min ?? -Infinity,
      range?.[0] ?? -Infinity,
      Math.min(value, max ?? Infinity, range?.[1] ?? Infinity),
    );
    if (kept !== value) this.drop();
    return kept;
  }

  #owner(name: string | undefined): JsonDraft {
    if (name === undefined) return this.fields;
    // Only this class writes there.
    const owner = this.fields[name] as JsonDraft | undefined ?? {};
    this.fields[name] = owner;
    return owner;
  }
}

const NOTHING: readonly never[] = [];
