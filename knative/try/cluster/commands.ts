// Runs the small programs that a cluster is set up with (ip, mount, ctr): their failure is an error
// that says which, with what, and what it printed.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** None of them waits for anything; importing the largest image takes seconds. */
const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Resolves with what it printed. */
export async function run(command: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...args], {
      timeout: TIMEOUT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    return stdout;
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const why = said === '' && cause instanceof Error ? cause.message : said;
    throw new Error(`\`${[command, ...args].join(' ')}\` failed: ${why}`, { cause });
  }
}
