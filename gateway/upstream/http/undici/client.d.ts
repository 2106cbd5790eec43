/**
 * Types of `undici/lib/dispatcher/client.js`.
 *
 * @module
 */
export { Client as default } from "undici";
