export { AzureOpenAI, default } from "npm:openai@7.59.0";
export const OPENAI_FOLDER = new URL(
  "./",
  import.meta.resolve("npm:openai@7.59.0"),
);
