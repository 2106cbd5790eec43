/** The validation of request bodies that both endpoints of the reference gateway share. */
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { invalid, type TurnPart } from "../part.ts";

/** A required string that is not empty. */
export function requiredText(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(name, "a string is required");
}

/** A number within its range, or undefined. */
export function optionalNumber(
  body: JsonObject,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= least && value <= most) {
    return value;
  }
  throw invalid(name, `must be a number from ${least} to ${most}`);
}

/** A whole number of at least 1, or undefined. */
export function optionalCount(
  body: JsonObject,
  name: string,
): number | undefined {
  const value = optionalNumber(body, name, 1, 10_000_000);
  if (value === undefined || Number.isInteger(value)) return value;
  throw invalid(name, "must be a whole number");
}

/** The messages: a non-empty array of objects. */
export function requiredMessages(body: JsonObject): readonly JsonObject[] {
  const value = body["messages"];
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid("messages", "an array with at least one entry is required");
  }
  return value.map((entry: Json, index) => {
    if (isObject(entry)) return entry;
    throw invalid(`messages.${index}`, "must be an object");
  });
}

export function optionalFlag(
  body: JsonObject,
  name: string,
): boolean | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(name, "must be true or false");
}

/** An array; empty when it is absent. */
export function optionalList(body: JsonObject, name: string): readonly Json[] {
  const value = body[name] ?? [];
  if (Array.isArray(value)) return value;
  throw invalid(name, "must be an array");
}

/** An object; undefined when it is absent. */
export function optionalObject(body: JsonObject, name: string): JsonObject {
  const value = body[name] ?? {};
  if (isObject(value)) return value;
  throw invalid(name, "must be an object");
}

export function textList(value: Json, name: string): readonly string[] {
  if (!Array.isArray(value)) throw invalid(name, "must be an array");
  return value.map((item: Json) => {
    if (typeof item === "string") return item;
    throw invalid(name, "must contain strings");
  });
}

export function textOf(
  content: Json | undefined,
  name: string,
): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalid(name, "must be text");
  return content.map((part: Json) => {
    if (isObject(part) && typeof part["text"] === "string") return part["text"];
    throw invalid(name, "must contain text parts");
  }).join("\n");
}

/** The members of these names, unchanged; absent ones are left out. */
export function members(
  body: JsonObject,
  names: readonly string[],
): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => names.includes(name)),
  );
}

export function textPart(text: string): TurnPart {
  return { type: "text", text };
}
