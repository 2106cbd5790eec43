export { default } from "npm:@anthropic-ai/sdk@1.14.0";
export * as errorClasses from "npm:@anthropic-ai/sdk@1.14.0/core/error-classes.mjs";
export { betaTool } from "npm:@anthropic-ai/sdk@1.14.0/helpers/beta/json-schema";
export const ANTHROPIC_FOLDER = new URL(
  "./",
  import.meta.resolve("npm:@anthropic-ai/sdk@1.14.0"),
);
