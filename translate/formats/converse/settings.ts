/**
 * The settings of a request in the Converse format. Those of single model families are additional
 * fields.
 */
import {
  TEMPERATURES,
  withoutBlank,
} from "../../families/messages/settings.ts";
import {
  at,
  type SettingsTable,
  settingsTable,
} from "../../model/settings_table.ts";

/** The settings, in the order in which they are written. */
export const SETTINGS: SettingsTable<undefined> = settingsTable({
  maxTokens: at("inferenceConfig.maxTokens", {
    absent: ({ can }) =>
      can.alwaysCapped
        ? Math.min(can.defaultMaxTokens, can.maxOutputTokens ?? Infinity)
        : undefined,
  }),
  temperature: at("inferenceConfig.temperature", { range: TEMPERATURES }),
  topP: at("inferenceConfig.topP"),
  stop: at("inferenceConfig.stopSequences", { encode: withoutBlank }),
  topK: at("additionalModelRequestFields.top_k"),
});
