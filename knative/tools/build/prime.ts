// Starts a bundle once with example settings, asks it everything it answers by itself, and lets
// it end: that fills the code cache it will start from, and proves that the bundle runs before
// anybody ships it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A cold start takes a fifth of a second; a machine that needs this long has other troubles. */
const PRIME_TIMEOUT_MS = 30_000;

export async function prime(
  dir: string,
  examples: Readonly<Record<string, string>>,
): Promise<void> {
  // It serves nobody, so that its end need not wait for late requests.
  const env = { ...examples, PORT: '0', DRAIN_MINIMUM_SECONDS: '0' };
  const child = spawn(process.execPath, [join(dir, 'index.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PRIME_TIMEOUT_MS,
  });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('exit', (...how) => resolve(how)).once('error', reject);
  });
  // A build that is ended from outside gets no further than this.
  const endWithBuild = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithBuild);
  // Awaited below; what goes wrong before that must not turn it into an unhandled rejection.
  ended.catch(() => undefined);
  const lines: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      const port = portIn(line);
      if (port === undefined) continue;
      await askAll(`http://127.0.0.1:${port}`);
      child.kill('SIGTERM');
    }
    await ended;
  } finally {
    // Nothing for one that has ended; without it, one that cannot be talked to would stay.
    child.kill('SIGKILL');
    await Promise.allSettled([ended]);
    process.off('exit', endWithBuild);
  }
  const [code, signal] = await ended;
  if (code === 0) return;
  const said = lines.join('\n');
  throw new Error(
    `The bundle in ${dir} did not run (${signal ?? `exit code ${code ?? 0}`}):\n${said}`,
  );
}

function portIn(line: string): number | undefined {
  const { message, port }: { message?: unknown; port?: unknown } = JSON.parse(line);
  return message === 'listening' && typeof port === 'number' ? port : undefined;
}

/**
 * Code is cached as far as it was run: so each lazy chunk, and the road of an event up to its
 * handler.
 */
async function askAll(url: string): Promise<void> {
  for (const path of ['/health/readiness', '/health/liveness', '/', '/metrics', '/no-such-path']) {
    await (await fetch(`${url}${path}`)).text();
  }
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': 'prime',
    'ce-source': '/knative/tools/build',
    'ce-type': 'dev.ballast.build.primed',
    'content-type': 'application/json',
  };
  const answer = await fetch(url, { method: 'POST', headers, body: '{"metadata":{}}' });
  await answer.text();
}
