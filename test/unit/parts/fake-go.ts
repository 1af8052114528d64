// A `go` that builds nothing real: progress, failures and locks could not be made to happen at will
// with the true one. It writes each call to a log, and each "binary" it makes is a script that
// prints a version.
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildProgress, BuildReporter } from '../../../knative/try/local/parts/report.ts';
import { type PartsSettings, partsSettings } from '../../../knative/try/local/parts/settings.ts';

export interface FakeMachine extends AsyncDisposable {
  readonly dir: string;
  readonly settings: PartsSettings;
  /** The Go commands that were run, each as its arguments. */
  goCalls(): Promise<readonly string[]>;
  /** Puts an executable script into a directory of this machine and returns the directory. */
  script(dirName: string, name: string, body: string): Promise<string>;
}

export interface FakeGo {
  readonly goVersion?: string;
  /** Shell lines in place of what `go list` and `go build` do. */
  readonly list?: string;
  readonly build?: string;
}

const LIST = `
echo 'go: downloading example.com/one v1.0.0' >&2
echo 'go: downloading example.com/two v1.0.0' >&2
printf 'example.com/one\\nexample.com/two\\n%s\\n' "$package"`;

/** The version that the made binaries print is the one of the part, whatever its name. */
const BUILD = `
printf 'example.com/one\\nexample.com/two\\n%s\\n' "$package" >&2
case "$output" in
  */etcd) version=v3.6.16 ;;
  */nats-server) version=v2.15.2 ;;
  *) version=v1.36.3 ;;
esac
printf '#!/bin/sh\\necho %s\\n' "$version" > "$output"
chmod +x "$output"`;

const goScript = (log: string, { goVersion = 'go1.26.8', list = LIST, build = BUILD }: FakeGo) => `
PATH=/usr/bin:/bin
echo "$*" >> '${log}'
command=$1
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then output=$2; fi
  package=$1
  shift
done
case "$command" in
  env) echo ${goVersion} ;;
  list) ${list}
  ;;
  build) ${build}
  ;;
esac`;

/** With `go` undefined, the machine has none. */
export async function fakeMachine(
  go: FakeGo | undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<FakeMachine> {
  const dir = await mkdtemp(join(tmpdir(), 'parts-test-'));
  const log = join(dir, 'go.log');
  await writeFile(log, '');
  const script = async (dirName: string, name: string, body: string): Promise<string> => {
    await mkdir(join(dir, dirName), { recursive: true });
    const path = join(dir, dirName, name);
    await writeFile(path, `#!/bin/sh\n${body}\n`);
    await chmod(path, 0o755);
    return join(dir, dirName);
  };
  const bin = join(dir, 'bin');
  if (go !== undefined) await script('bin', 'go', goScript(log, go));
  const env = { PATH: bin, HOME: dir, XDG_CACHE_HOME: join(dir, 'cache'), ...environment };
  return {
    dir,
    settings: partsSettings(env),
    goCalls: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== ''),
    script,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Keeps what it is told, for a test to look at. */
export class RecordingReporter implements BuildReporter {
  readonly notes: string[] = [];
  readonly steps: string[] = [];

  plan(parts: readonly string[]): void {
    this.steps.push(`plan | ${parts.join(', ')}`);
  }
  drop(parts: readonly string[]): void {
    this.steps.push(`drop | ${parts.join(', ')}`);
  }
  note(text: string): void {
    this.notes.push(text);
  }
  progress({ part, step, detail }: BuildProgress): void {
    this.steps.push([part, step, detail].filter((piece) => piece !== undefined).join(' | '));
  }
  done(): void {
    this.steps.push('done');
  }
  close(): void {
    this.steps.push('closed');
  }
}
