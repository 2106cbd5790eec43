/**
 * Processor time and memory of another process and its descendants. Linux only.
 */

/** Whether this system reports what other processes use. */
export const CAN_READ_PROCESSES: boolean = Deno.build.os === "linux";

/** Reads the processor time of processes. */
export interface CpuClock extends Disposable {
  /**
   * Microseconds that a process and its descendants have used so far: user and system time of all
   * threads.
   *
   * @throws {Error} when there is no such process, or the system does not report its time
   */
  microsOf(pid: number): number;
}

/** Resolution of the times in `/proc/PID/stat`: one clock tick. */
const TICK_MICROS = 10_000;

/**
 * Opens the clock. It uses the C library's `clock_gettime`, which has nanosecond resolution and
 * includes ended threads; where the library cannot be loaded, `/proc` with its resolution of ten
 * milliseconds.
 */
export function openCpuClock(): CpuClock {
  const library = openLibrary();
  return {
    microsOf: (pid) =>
      processTree(pid).reduce(
        (sum, member) => sum + (library?.micros(member) ?? statMicros(member)),
        0,
      ),
    [Symbol.dispose]: () => library?.close(),
  };
}

/** Resident memory of a process and its descendants, in bytes. */
export function residentBytes(pid: number): number {
  return processTree(pid).reduce((sum, member) => {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(
      Deno.readTextFileSync(`/proc/${member}/status`),
    )?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);
}

/** Ids of a process and its descendants. */
export function processTree(pid: number): readonly number[] {
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
    // The process ended while the list was read.
    return undefined;
  }
}

/**
 * The fields of `/proc/PID/stat` from the third on; the second, a name in parentheses, may contain
 * spaces.
 */
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
          // Clock id of a process, as in <linux/posix-timers.h>; CPUCLOCK_SCHED is 2.
          const clock = (~pid << 3) | 2;
          if (library.symbols.clock_gettime(clock, time) !== 0) {
            throw new Error(`could not read the processor time of ${pid}`);
          }
          return Number(time[0] ?? 0n) * 1e6 + Number(time[1] ?? 0n) / 1000;
        },
        close: () => library.close(),
      };
    } catch {
      // No library of this name.
    }
  }
  return undefined;
}

/** Processor time of one process from `/proc/PID/stat`: utime and stime, in microseconds. */
export function statMicros(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}
