/**
 * `GET /admin/v1/settings`: the configuration in force in this process. Nothing changes a setting
 * through the API.
 */
import { z } from "zod";
import { shownContent } from "../../gateway/settings/configuration_difference.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { noQuery } from "../../gateway/admin/pages.ts";
import { SETTING_DESCRIPTIONS } from "../../gateway/settings/setting_descriptions.ts";
import { check } from "../../translate/model/schema.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { jsonReply, type OpenRoute } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";

export const settingsReply: z.ZodType = z.object({
  object: z.literal("settings"),
  configuration: z.object({
    hash: z.string().nullable().describe(
      "of the configuration file; null without one",
    ),
    in_force_since: z.string(),
    content: z.record(z.string(), z.unknown()).describe(
      "the configuration file in force, without the values of headers; empty without one",
    ),
  }),
  data: z.array(z.object({
    object: z.literal("setting"),
    name: z.string(),
    value: z.string().nullable().describe(
      "null: not set and without a default, or a secret",
    ),
    is_set: z.boolean(),
    is_secret: z.boolean(),
    source: z.enum(["environment", "secret_file", "file", "default"]).describe(
      "secret_file: the file that the variable …_FILE names; file: the configuration file",
    ),
    default: z.string(),
    meaning: z.string(),
  })),
});

/** Served from memory, also while the store is down. */
export const SETTINGS_ROUTE: OpenRoute = {
  access: "open",
  method: "GET",
  path: "/admin/v1/settings",
  operation: "listSettings",
  async handle(context) {
    await requireOperator(context);
    check(noQuery, queryOf(context.query));
    return jsonReply(settingsJson(context.gateway));
  },
};

function settingsJson({ config, configuredAtMs }: Gateway): JsonObject {
  return {
    object: "settings",
    configuration: {
      hash: config.configHash ?? null,
      in_force_since: new Date(configuredAtMs).toISOString(),
      content: shownContent(config.fileContent),
    },
    data: config.settings.map((
      { name, value, isSet, isSecret, source },
    ) => ({
      object: "setting",
      name,
      value: value ?? null,
      is_set: isSet,
      is_secret: isSecret,
      source,
      default: SETTING_DESCRIPTIONS[name].default,
      meaning: SETTING_DESCRIPTIONS[name].meaning,
    })),
  };
}
