/**
 * Validates a request that passes through: only what the gateway itself reads (caps, number of
 * replies, sampling). The upstream validates the rest.
 */
import { z } from "zod";
import { isObject } from "../../bytes/json.ts";
import { check, list } from "../../model/schema.ts";
import { inWords, withConfig } from "./decode_request.ts";
import { oneSpelling } from "./key_names.ts";
import { generationConfig } from "./wire.ts";

const passable = z.looseObject({
  contents: list(
    z.looseObject({ parts: list(z.looseObject({})).nullish() }),
  ).min(1),
  tools: list(z.unknown()).nullish(),
  generationConfig: generationConfig.nullish(),
});

/**
 * Validates a body.
 *
 * @throws {ApiError} `invalid_request` with the field's path
 */
export function checkPassable(body: unknown): void {
  const given = isObject(body) ? oneSpelling(body) : undefined;
  try {
    check(passable, withConfig(given?.body ?? body));
  } catch (error) {
    throw inWords(error, given);
  }
}
