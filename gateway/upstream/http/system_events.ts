/**
 * Waits until the event loop has asked the system for events, such as the end of a connection.
 */
import { setImmediate } from "node:timers";

/**
 * Turns of the event loop after which it has asked the system for events and handled them. While
 * turns are ready to run, Deno's scheduler (tokio) asks the system after 61 of them; some more pass
 * until the events reach their readers. Up to Deno 2.5 an immediate is a timer, and the system is
 * asked before each.
 */
const TURNS = isBeforeDeno26() ? 2 : 65;

function isBeforeDeno26(): boolean {
  const [major = 0, minor = 0] = Deno.version.deno.split(".").map(Number);
  return major < 2 || major === 2 && minor < 6;
}

/** Calls back after system events. Calls at the same time share the turns. */
export class SystemEvents {
  #waiting: (() => void)[] = [];
  #isRunning = false;

  /** Calls back once all events have been handled that happened before this call. */
  after(callback: () => void): void {
    this.#waiting.push(callback);
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    this.#isRunning = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    let turns = 0;
    const turn = (): void => {
      if (++turns < TURNS) return void setImmediate(turn);
      this.#isRunning = false;
      // Calls since the start of these turns need turns of their own.
      if (this.#waiting.length > 0) this.#run();
      for (const callback of waiting) callback();
    };
    setImmediate(turn);
  }
}
