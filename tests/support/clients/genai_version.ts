/**
 * The pinned version of `@google/genai`. Tests run it in a process of its own or unpack it: among
 * the packages that it needs are types of Node that would replace Deno's.
 */
export const GENAI_VERSION = "3.3.0";
