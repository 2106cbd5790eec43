/**
 * Types of `undici/lib/dispatcher/agent.js`.
 *
 * @module
 */
export { Agent as default } from "undici";
