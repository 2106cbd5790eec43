/**
 * The processor time and the memory of another process, its children counted in. Linux tells both.
 *
 * @module
 */

/** Whether this system tells what other processes use. */
export const CAN_LOOK: boolean = Deno.build.os === "linux";

/** Reads processor time. */
export interface CpuClock extends Disposable {
  /**
   * Microseconds that a process and those that it started have used so far, in user mode and in the kernel, all threads of them.
   *
   * @throws {Error} where there is no such process, or the system does not tell
   */
  microsOf(pid: number): number;
}

/** The longest step of `/proc/PID/stat`'s figures, a clock tick. */
const TICK_MICROS = 10_000;

/**
 * Opens the clock. The C library's is exact to the nanosecond and counts threads that have ended; `/proc` counts in steps of ten
 * milliseconds and is used where the library cannot be had.
 */
export function openCpuClock(): CpuClock {
  const library = openLibrary();
  return {
    microsOf: (pid) =>
      familyOf(pid).reduce(
        (sum, member) => sum + (library?.micros(member) ?? statMicros(member)),
        0,
      ),
    [Symbol.dispose]: () => library?.close(),
  };
}

/** Bytes of memory that a process and those that it started hold. */
export function residentBytes(pid: number): number {
  return familyOf(pid).reduce((sum, member) => {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(
      Deno.readTextFileSync(`/proc/${member}/status`),
    )?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);
}

/** A process, its children and theirs. */
export function familyOf(pid: number): readonly number[] {
  const childrenOf = new Map<number, number[]>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent === undefined) continue;
    childrenOf.set(parent, [...childrenOf.get(parent) ?? [], Number(name)]);
  }
  const family = [pid];
  for (const member of family) family.push(...childrenOf.get(member) ?? []);
  return family;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statFields(pid)[1]);
  } catch {
    // It ended while the list was read.
    return undefined;
  }
}

/** The fields of `/proc/PID/stat` from the third on: the name, in brackets, may hold blanks. */
function statFields(pid: number): readonly string[] {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

interface Library {
  micros(pid: number): number;
  close(): void;
}

function openLibrary(): Library | undefined {
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      const library = Deno.dlopen(name, {
        clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
      });
      const time = new BigInt64Array(2);
      return {
        micros(pid) {
          // The id of a process's clock, as <linux/posix-timers.h> makes it: CPUCLOCK_SCHED is 2.
          const clock = (~pid << 3) | 2;
          if (library.symbols.clock_gettime(clock, time) !== 0) {
            throw new Error(`could not read the processor time of ${pid}`);
          }
          return Number(time[0] ?? 0n) * 1e6 + Number(time[1] ?? 0n) / 1000;
        },
        close: () => library.close(),
      };
    } catch {
      // Not under this name.
    }
  }
  return undefined;
}

/** As `/proc/PID/stat` tells it: utime and stime. */
export function statMicros(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}
