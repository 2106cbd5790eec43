/**
 * Types of `undici/lib/dispatcher/pool.js`.
 *
 * @module
 */
export { Pool as default } from "undici";
