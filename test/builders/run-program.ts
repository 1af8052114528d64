// A program of this machine that is run to its end, with all that it said. It is awaited, since
// servers in this process may have to answer it.
import { execFile } from 'node:child_process';

export interface Told {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

interface How {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

const OUTPUT_BYTES_MAX = 20_000_000;

export const runProgram = (
  program: string,
  args: readonly string[],
  { input = '', ...how }: How = {},
): Promise<Told> =>
  new Promise((resolve) => {
    const options = { ...how, maxBuffer: OUTPUT_BYTES_MAX };
    const child = execFile(program, [...args], options, (_error, out, err) =>
      resolve({ status: child.exitCode, out, err }),
    );
    // A program that ends without reading says by its status what was wrong.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
